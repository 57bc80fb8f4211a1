// Sweep 1 of the library over a panel with given columns, and cublasDgemm over the same columns.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "sweeps/backend.hpp"
#include "dgemm.hpp"

namespace cudaopt::bench {

class PanelProduct {
  public:
    // active: the share of variables at a bound, chosen at random. stream: CUDA's.
    PanelProduct(int64_t n, int pairs, double active, void *stream);
    ~PanelProduct();

    // Sweep 1: the products of all columns over the free variables within bounds, or over all variables without bounds.
    // y_new is formed in passing, as in the solver. Waits for the sums.
    const PanelProducts &inner_products(bool bounded);

    // NULL where there is no cuBLAS. Its columns are in the panel's order: y_new, s_new, y_1, s_1, ...
    Dgemm *dgemm() const { return dgemm_.get(); }
    // The largest difference of a product over all variables by both, relative to the columns' lengths.
    double difference();

  private:
    double *allocate();
    void copy_in(double *to, const std::vector<double> &from);
    void fill_pairs(std::vector<double> &staged);
    void fill_variables(double active, std::vector<double> &staged);
    double y(int slot, int64_t i) const;
    double s(int slot, int64_t i) const;

    const int64_t n_;
    const int pairs_;
    void *const stream_;
    const std::unique_ptr<MemorySpace> memory_;
    std::vector<void *> arrays_;
    const std::atomic<bool> never_{false};
    CancellationToken cancellation_{never_}; // without an end
    const std::unique_ptr<Sweeps> sweeps_;
    const std::unique_ptr<Dgemm> dgemm_;
    UserArrays unbounded_{}, bounded_{};
};

} // namespace cudaopt::bench
