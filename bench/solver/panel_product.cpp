#include "panel_product.hpp"

#include <algorithm>
#include <cmath>

#include "cuda_opt.h"

namespace cudaopt::bench {

namespace {

// A number from [-1, 1) for each pair of integers, as good as random (the finaliser of Stafford's variant 13).
double scattered(int64_t stream, int64_t i) {
    uint64_t z =
        0x9e3779b97f4a7c15u * static_cast<uint64_t>(i + 1) + 0xd1b54a32d192ed03u * static_cast<uint64_t>(stream + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return static_cast<double>(static_cast<int64_t>(z >> 11) - (int64_t{1} << 52)) * 0x1p-52;
}

template <class Value> void fill(std::vector<double> &to, const Value &value) {
    const auto n = static_cast<int64_t>(to.size());
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) to[static_cast<std::size_t>(i)] = value(i);
}

} // namespace

PanelProduct::PanelProduct(int64_t n, int pairs, double active, void *stream)
    : n_(n), pairs_(pairs), stream_(stream), memory_(make_cuda_memory()),
      sweeps_(make_sweeps<double>(CUDA_OPT_BACKEND_CUDA, n, 64, memory_->device())),
      dgemm_(make_dgemm(n, 2 * pairs, stream)) {
    std::vector<double> staged(static_cast<std::size_t>(n));
    unbounded_.x = allocate();
    unbounded_.g = allocate();
    unbounded_.f = allocate();
    bounded_ = unbounded_;
    sweeps_->allocate(pairs, {0, stream, false, Metric::one_number, &cancellation_});
    sweeps_->bind(unbounded_);
    fill_pairs(staged);
    fill_variables(active, staged);
}

PanelProduct::~PanelProduct() {
    memory_->synchronize(stream_);
    for (void *array : arrays_) memory_->release(array);
}

double *PanelProduct::allocate() {
    arrays_.push_back(memory_->allocate(static_cast<std::size_t>(n_) * sizeof(double)));
    return static_cast<double *>(arrays_.back());
}

void PanelProduct::copy_in(double *to, const std::vector<double> &from) {
    memory_->copy_in(to, from.data(), from.size() * sizeof(double), stream_);
}

// The pairs' slots as sweep 2 leaves them: y is the gradient where the step began until the newest pair's is replaced
// by g - y, s is the direction -g + y / 2, y of the slot before.
double PanelProduct::y(int slot, int64_t i) const {
    return slot == pairs_ - 1 ? scattered(pairs_, i) - scattered(slot, i) : scattered(slot, i);
}
double PanelProduct::s(int slot, int64_t i) const {
    return -scattered(slot, i) + (slot > 0 ? 0.5 * scattered(slot - 1, i) : 0);
}

void PanelProduct::fill_pairs(std::vector<double> &staged) {
    auto *x = static_cast<double *>(unbounded_.x), *g = static_cast<double *>(unbounded_.g);
    fill(staged, [](int64_t) { return 0.0; });
    copy_in(x, staged);
    for (int slot = 0; slot < pairs_; slot++) {
        fill(staged, [&](int64_t i) { return scattered(slot, i); });
        copy_in(g, staged);
        const std::vector<double> coefficients = {0.5, 0, 0, 0};
        DirectionRequest request{};
        request.panel.pairs = slot > 0;
        request.panel.newest_slot = std::max(0, slot - 1);
        request.gradient_coefficient = -1;
        request.coefficients = coefficients.data();
        request.spare_slot = slot; // with a step of 0, so that x stays 0
        sweeps_->direction(request);
        memory_->synchronize(stream_);
        if (!dgemm_) continue;
        const int age = pairs_ - 1 - slot;
        fill(staged, [&](int64_t i) { return y(slot, i); });
        dgemm_->set_column(2 * age, staged.data());
        fill(staged, [&](int64_t i) { return s(slot, i); });
        dgemm_->set_column(2 * age + 1, staged.data());
    }
}

// Active variables are at the bound that their gradient points away from.
void PanelProduct::fill_variables(double active, std::vector<double> &staged) {
    double *l = allocate(), *u = allocate();
    fill(staged, [&](int64_t i) { return scattered(pairs_, i); });
    copy_in(static_cast<double *>(unbounded_.g), staged);
    fill(staged, [&](int64_t i) {
        const bool at_bound = scattered(-1, i) < 2 * active - 1;
        return at_bound ? (scattered(pairs_, i) < 0 ? 1.0 : -1.0) : 0.5 * scattered(-2, i);
    });
    copy_in(static_cast<double *>(unbounded_.x), staged);
    fill(staged, [](int64_t) { return -1.0; });
    copy_in(l, staged);
    fill(staged, [](int64_t) { return 1.0; });
    copy_in(u, staged);
    bounded_.lower = l;
    bounded_.upper = u;
}

const PanelProducts &PanelProduct::inner_products(bool bounded) {
    sweeps_->bind(bounded ? bounded_ : unbounded_);
    PanelRequest request{};
    request.pairs = pairs_;
    request.newest_slot = pairs_ - 1;
    request.fresh = true;
    request.free_gram = true;
    return sweeps_->inner_products(request);
}

double PanelProduct::difference() {
    const int columns = 2 * pairs_;
    const std::vector<double> by_dgemm = dgemm_->multiply_and_fetch(columns);
    const PanelProducts &sums = inner_products(false);
    const auto column = [](int j) { return j < 2 ? j : panel::leading + j - 2; };
    const auto product = [&](int i, int j) { return by_dgemm[static_cast<std::size_t>(i + columns * j)]; };
    double largest = 0;
    for (int j = 0; j < columns; j++)
        for (int i = 0; i <= j; i++) {
            const double apart = std::fabs(sums.over_free(column(i), column(j)) - product(i, j));
            largest = std::fmax(largest, apart / std::sqrt(product(i, i) * product(j, j)));
        }
    return largest;
}

} // namespace cudaopt::bench
