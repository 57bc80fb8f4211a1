// Sweep 1 of the library over a panel with given columns, and cublasDgemm over the same columns.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "sweeps/backend.hpp"
#include "dgemm.hpp"

namespace cudaopt::bench {

enum class Products {
    over_all,  // all products of the 2m columns, no bounds
    over_free, // all products over the rows that are not held at a bound
    of_newest  // those with y_new, s_new and g alone, no bounds: what the solver asks for without bounds
};

class PanelProduct {
  public:
    // For up to `most` pairs. held: the share of rows that stand at a bound, wherever chance puts them. stream: CUDA's.
    // compared: with cuBLAS, where there is one.
    PanelProduct(int64_t n, int most, double held, bool cuda, int threads, void *stream, bool compared = true);
    ~PanelProduct();

    // Sweep 1 with m pairs, y_new formed on the way as in the solver; waits for the sums.
    const PanelProducts &inner_products(int m, Products products);
    // Bytes it has to read.
    double gathered_bytes(int m, Products products) const;

    // NULL where there is no cuBLAS. Its columns are in the panel's order: y_new, s_new, y_1, s_1, ...
    Dgemm *dgemm() const { return dgemm_.get(); }
    double dgemm_bytes(int m) const { return 2.0 * m * static_cast<double>(n_) * sizeof(double); }
    // Largest difference of a product over all rows by both, relative to the columns' lengths; NaN without cuBLAS.
    double difference(int m);

  private:
    double *allocate();
    void copy_in(double *to, const std::vector<double> &from);
    void fill_pairs(std::vector<double> &staged);
    void fill_rows(double held, std::vector<double> &staged);
    double y(int slot, int64_t i) const;
    double s(int slot, int64_t i) const;

    const int64_t n_;
    const int most_;
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
