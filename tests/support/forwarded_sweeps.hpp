// ForwardedSweeps forwards all sweeps to another object. A test overrides those that it changes or observes.
#pragma once

#include <memory>
#include <utility>

#include "sweeps/backend.hpp"

namespace cudaopt_test {

class ForwardedSweeps : public cudaopt::Sweeps {
  public:
    explicit ForwardedSweeps(std::unique_ptr<cudaopt::Sweeps> sweeps) : sweeps_(std::move(sweeps)) {}

    void bind(const cudaopt::UserArrays &arrays) override { sweeps_->bind(arrays); }
    void allocate(int m, const cudaopt::BackendOptions &options) override { sweeps_->allocate(m, options); }
    int64_t workspace_bytes() const override { return sweeps_->workspace_bytes(); }
    cudaopt::StartReport check_start() override { return sweeps_->check_start(); }
    void move_into_box() override { sweeps_->move_into_box(); }
    const cudaopt::PanelProducts &inner_products(const cudaopt::ProductsRequest &request) override {
        return sweeps_->inner_products(request);
    }
    bool forms_free_changes() const override { return sweeps_->forms_free_changes(); }
    void direction(const cudaopt::DirectionRequest &request) override { sweeps_->direction(request); }
    cudaopt::DirectionSums direction_sums() override { return sweeps_->direction_sums(); }
    bool direction_sums_at_hand() const override { return sweeps_->direction_sums_at_hand(); }
    double truncation(const cudaopt::DirectionRequest &request) override { return sweeps_->truncation(request); }
    cudaopt::CrossedWindow crossed(const cudaopt::PanelRequest &request, double lo, double hi) override {
        return sweeps_->crossed(request, lo, hi);
    }
    void step(int slot, double step) override { sweeps_->step(slot, step); }
    double largest_step(int slot) override { return sweeps_->largest_step(slot); }
    void restore(int slot, double f) override { sweeps_->restore(slot, f); }
    void save_best(int slot) override { sweeps_->save_best(slot); }
    void save_trial() override { sweeps_->save_trial(); }
    void restore_best(double f) override { sweeps_->restore_best(f); }
    void finish_pair(int slot) override { sweeps_->finish_pair(slot); }
    void fetch(const cudaopt::HeldVector &which, void *to) override { sweeps_->fetch(which, to); }
    void store(const cudaopt::HeldVector &which, const void *from) override { sweeps_->store(which, from); }
    int64_t bytes_of(const cudaopt::HeldVector &which) const override { return sweeps_->bytes_of(which); }
    double norm(const cudaopt::NormRequest &request) override { return sweeps_->norm(request); }
    void remove_infinite_slopes() override { sweeps_->remove_infinite_slopes(); }
    int64_t bad_diagonal() override { return sweeps_->bad_diagonal(); }
    void read(const void *vector, int64_t begin, int count, double *to) override {
        sweeps_->read(vector, begin, count, to);
    }

  private:
    std::unique_ptr<cudaopt::Sweeps> sweeps_;
};

} // namespace cudaopt_test
