// The operations on all variables of one small problem whose initial Hessian is theta diag(h)^-1. The method is applied
// to the scaled variables h_i^(-1/2) x_i. The elements of y and g are multiplied by sqrt(h_i), and those of s and z by
// 1 / sqrt(h_i). The scaled panel is written to separate memory, and the inner products are formed from it.
#pragma once

#include "batch/products.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt::batch {

struct ScaledRows {
    const double *rows;
    int stride; // elements per row, a multiple of four
    CUDA_OPT_HD_INLINE Four columns(int i, int first) const { return Four::at(rows + i * stride + first); }
    CUDA_OPT_HD_INLINE double entry(int i, int column) const { return rows[i * stride + column]; }
    template <int from, int to> CUDA_OPT_HD_INLINE void load(int i, double *entries) const {
        for (int column = from; column < to; column++) entries[column] = entry(i, column);
    }
};

// The columns s of the older correction pairs in a scaled panel.
template <class Panel> struct OlderSteps {
    Panel panel;
    int pairs;
    CUDA_OPT_HD_INLINE Four columns(int i, int first) const {
        double steps[granule];
        for (int c = 0; c < granule; c++) steps[c] = first + c < panel::older(pairs) ? entry(i, first + c) : 0;
        return Four::at(steps);
    }
    CUDA_OPT_HD_INLINE double entry(int i, int older) const { return panel.entry(i, panel::s_column(older + 1)); }
};

// The operations with weights. All lanes (threads) of a team must call these functions.
template <class Values, class PairValues> struct WeightedRows {
    Values h;
    PairValues pairs; // the rows of the correction pairs: the elements of s and y, for each of the n variables
    int n, m;

    // Updates the weights h with the correction pairs of `update`, one after the other. front: the slot of the pair
    // that is stored first; the pairs use the slots 0 to m cyclically.
    template <class Team>
    CUDA_OPT_HD void learn(const Team &team, int64_t front, const DiagonalUpdate &update, const Values &x) const {
        if (update.is_empty()) return;
        CUDA_OPT_ROLLED
        for (int i = team.lane(); i < n; i += Team::width) {
            double learned = update.anew ? update.first_weight(x[i]) : static_cast<double>(h[i]);
            for (int k = 0; k < update.count; k++) {
                const int slots = m + 1, age = static_cast<int>(front - update.pairs[k].slot + slots) % slots;
                const PairValues pair = row(i) + 2 * age;
                learned = learned_weight(learned, pair[panel::s_new], pair[panel::y_new], update.pairs[k]);
            }
            h[i] = static_cast<std::decay_t<decltype(h[i])>>(learned);
        }
    }

    // Writes the scaled panel to `entries`: n rows of padded(columns) numbers.
    template <class Team>
    CUDA_OPT_HD ScaledRows scaled(const Team &team, const PanelRows<PairValues, Values> &panel, int panel_pairs,
                                  double *entries) const {
        const int columns = panel::columns(panel_pairs), stride = padded(columns);
        CUDA_OPT_ROLLED
        for (int i = team.lane(); i < n; i += Team::width) {
            const panel::Scaling by = panel::scaling_of(h[i]);
            double *const to = entries + i * stride;
            for (int column = 0; column < stride; column++)
                to[column] = column < columns ? by.of(column) * panel.entry(i, column) : 0;
        }
        team.sync();
        return {entries, stride};
    }

    // Computes those elements of VariableSum (panel.hpp) that only problems with weights have: the number of invalid
    // weights, and the sums of squares of the newest y and d. The first lane computes them.
    template <class Team> CUDA_OPT_HD void measure(const Team &team, const PanelRequest &request, double *sums) const {
        team.sync(); // y has been written by all lanes
        if (team.lane() != 0) return;
        Count bad;
        double y_sum = 0, d_sum = 0;
        CUDA_OPT_ROLLED
        for (int i = 0; i < n; i++) {
            const double weight = h[i], other = request.weighted ? 1 : weight;
            const double y = request.pairs > 0 ? static_cast<double>(row(i)[panel::y_new]) : 0,
                         d = request.pairs > 0 ? static_cast<double>(row(i)[panel::s_new]) : 0;
            bad.add(!is_weight(weight));
            y_sum += y * y * other;
            d_sum += d * d / other;
        }
        sums[bad_weights] = static_cast<double>(bad.v);
        sums[newest_y_sum] = y_sum;
        sums[newest_d_sum] = d_sum;
    }

  private:
    CUDA_OPT_HD_INLINE PairValues row(int i) const { return pairs + i * row_stride(m); }
};

} // namespace cudaopt::batch
