// Implements OperatorSweeps for an executor, that of the host or of CUDA (backend/makers.hpp).
#pragma once

#include <vector>

#include "operator/operator_sweeps.hpp"
#include "operator/rules.hpp"
#include "sweeps/work_vectors.hpp"

namespace cudaopt {

template <class Executor, class Real, class History> class OperatorSweepsOn final : public OperatorSweeps {
    using Columns = OperatorColumns<Real, History>;

  public:
    OperatorSweepsOn(int64_t n, int device) : n_(n), executor_(device, "the sweeps of an operator") {}

    void bind(const UserArrays &user, const HistoryVectors &history, const Resources &resources) override {
        const int threads = n_ < least_variables_for_threads ? 1 : resources.threads;
        executor_.template start<FormInput<Real, History>, Combine<Real, History>, MultiplyOutput<Real, History>,
                                 TakeOperatorDirection<Real, History>>(
            {threads, resources.stream, resources.cancellation});
        with_y_.resize(static_cast<std::size_t>(history.m));
        work_ = {static_cast<Real *>(history.first), history.pitch, history.m};
        in_ = static_cast<Real *>(user.operator_in);
        out_ = static_cast<Real *>(user.operator_out);
        mask_ = static_cast<Real *>(user.operator_free);
        x_ = static_cast<Real *>(user.x);
        g_ = static_cast<const Real *>(user.g);
        box_ = box_of<Real>(user);
    }
    int64_t workspace_bytes() const override { return executor_.bytes(); }

    void form_input(const OperatorRequest &request) override {
        int age = 0;
        const Columns columns = columns_from(age, request.panel, true, request.coefficients);
        executor_.map(
            n_, FormInput<Real, History>{x_, g_, box_, request.panel.threshold, mask_, in_, request.scale, columns});
        if (age < request.panel.pairs) combine(request, in_, true, 1, age);
    }

    const OperatorProducts &multiply_output(const OperatorRequest &request) override {
        int age = 0;
        do {
            double *const with_y = with_y_.data() + age;
            const Columns columns = columns_from(age, request.panel, true, nullptr);
            const OperatorRecord record =
                executor_.reduce(n_, MultiplyOutput<Real, History>{in_, out_, mask_, columns});
            for (int j = 0; j < columns.count; j++) with_y[j] = record.with_column[j].v;
            products_ = {record.in_in.v,  record.in_out.v,     record.out_out.v,
                         record.with_g.v, record.not_finite.v, with_y_.data()};
        } while (age < request.panel.pairs);
        return products_;
    }

    DirectionSums direction(const OperatorRequest &move, const DirectionRequest &request) override {
        combine(move, out_, false, move.scale, 0);
        const PanelRequest &panel = request.panel;
        History *const y_fresh = panel.fresh && panel.pairs > 0 ? work_.y(panel.newest_slot) : nullptr;
        const int slot = request.spare_slot;
        const DirectionRecord record = executor_.reduce(
            n_, TakeOperatorDirection<Real, History>{g_,
                                                     out_,
                                                     box_,
                                                     request,
                                                     {x_, work_.g_base(slot), work_.x_base(), work_.s(slot), y_fresh},
                                                     work_.g_base(panel.newest_slot)});
        return {record.slope.v, record.d_squared.v, record.projected.v};
    }

  private:
    // On the host, one thread performs the sweeps over fewer variables, as it does with the other sweeps.
    static constexpr int64_t least_variables_for_threads = 8192;

    // Returns the columns of Y or of S from this age on, as many as a rule can have, and sets `age` to the next age.
    // Columns whose coefficient is 0 are omitted. Without coefficients, no column is.
    Columns columns_from(int &age, const PanelRequest &panel, bool of_y, const double *coefficients) const {
        Columns columns{g_, work_.g_base(panel.newest_slot)};
        for (; age < panel.pairs && columns.count < operator_columns; age++) {
            if (coefficients && coefficients[age] == 0) continue;
            const int slot = work_.slot_of(panel.newest_slot, age);
            if (age == 0) columns.fresh = of_y && panel.fresh;
            if (coefficients) columns.coefficient[columns.count] = coefficients[age];
            columns.column[columns.count++] = of_y ? work_.y(slot) : work_.s(slot);
        }
        return columns;
    }
    // v <- scale v + sum_j c_j w_j on F, where w_j are the columns of Y or of S from this age on.
    void combine(const OperatorRequest &request, Real *v, bool of_y, double scale, int age) {
        do {
            const Columns columns = columns_from(age, request.panel, of_y, request.coefficients);
            executor_.map(n_, Combine<Real, History>{v, mask_, scale, columns});
            scale = 1;
        } while (age < request.panel.pairs);
    }

    const int64_t n_;
    Real *x_ = nullptr;
    const Real *g_ = nullptr;
    BoxArrays<Real> box_{};
    WorkVectors<Real, History> work_{};
    Real *in_ = nullptr, *out_ = nullptr, *mask_ = nullptr;
    std::vector<double> with_y_;
    OperatorProducts products_{};
    Executor executor_; // the last member, so that its destructor waits before the other members are destroyed
};

} // namespace cudaopt
