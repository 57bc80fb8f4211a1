// This header contains the end of sweep 2 for columns that are stored with fewer bits than x.
#pragma once

#include "sweeps/cuda/direction/direction.cuh"

namespace cudaopt {

// LoadedVariables contains neighbouring variables of one lane.
template <class Real, int variables> struct LoadedVariables { Elements<Real, variables> x, g, l, u, h; };

// Computes the direction and the first trial point of the variables from i on, and stores them. The arguments from_y
// and from_s are the parts of w'q from Y and from S (subspace_move()). Returns the direction.
template <int variables, class Real, class History>
__device__ Elements<History, variables>
take_and_store(const DeviceVectors<Real, History> &v, const DirectionRequest &request,
               const TrialArrays<Real, History> &to, bool aligned, int64_t i,
               const LoadedVariables<Real, variables> &at, const double (&from_y)[variables],
               const double (&from_s)[variables], DirectionRecord &record) {
    Elements<History, variables> d{};
    Elements<Real, variables> stepped{};
    const auto take = [&](int k, const DirectionRequest &requested) {
        const double weight = requested.panel.weighted ? at.h[k] : 1.0;
        const double move = subspace_move(requested, weight, at.g[k], from_y[k], from_s[k]);
        const auto trial =
            take_trial<Real, History>({at.x[k], at.g[k], at.l[k], at.u[k]}, requested, weight, move, record);
        d.v[k] = trial.d;
        stepped.v[k] = trial.x;
    };
    as_requested(request, [&](const DirectionRequest &requested) {
        if (i + variables <= v.n) {
#pragma unroll
            for (int k = 0; k < variables; k++) take(k, requested);
        } else {
            for (int k = 0; k < variables && i + k < v.n; k++) take(k, requested);
        }
    });
    const auto store = [&](const auto &from, auto *to_vector) {
        if (aligned && i + variables <= v.n) return from.store(to_vector + i);
        for (int k = 0; k < variables && i + k < v.n; k++) to_vector[i + k] = from.v[k];
    };
    store(d, to.d);
    store(at.g, to.g_base);
    store(at.x, to.x_base);
    store(stepped, to.x);
    return d;
}

} // namespace cudaopt
