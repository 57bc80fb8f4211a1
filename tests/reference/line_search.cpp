// Each step of the line search is compared with that of dcsrch of MINPACK-2, which is part of L-BFGS-B 3.0.
#include "line_search/more_thuente.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "../support/line_functions.hpp"

// gfortran passes the length of a character argument as an additional last argument.
extern "C" void dcsrch_(double *f, double *g, double *stp, const double *ftol, const double *gtol, const double *xtol,
                        const double *stpmin, const double *stpmax, char *task, int *isave, double *dsave,
                        std::size_t task_length);

using namespace cudaopt_test;
using cudaopt::MoreThuente;
using cudaopt::SearchTolerances;
using cudaopt::SearchVerdict;

namespace {

class Reference {
  public:
    Reference(double phi0, double slope0, double first_step, const SearchTolerances &tolerances)
        : tolerances_(tolerances), step_(first_step) {
        std::memset(task_, ' ', sizeof task_);
        std::memcpy(task_, "START", 5);
        call(phi0, slope0);
    }
    SearchVerdict update(double phi, double slope) {
        call(phi, slope);
        const auto says = [&](const char *text) { return std::strncmp(task_, text, std::strlen(text)) == 0; };
        if (says("FG")) return SearchVerdict::evaluate;
        if (says("CONVERGENCE")) return SearchVerdict::converged;
        if (says("WARNING: ROUNDING")) return SearchVerdict::rounding_errors;
        if (says("WARNING: XTOL")) return SearchVerdict::interval_too_small;
        if (says("WARNING: STP = STPMAX")) return SearchVerdict::at_maximum_step;
        if (says("WARNING: STP = STPMIN")) return SearchVerdict::at_minimum_step;
        FAIL("unexpected task of dcsrch: " << std::string(task_, sizeof task_));
        return SearchVerdict::evaluate;
    }
    double step() const { return step_; }

  private:
    void call(double phi, double slope) {
        dcsrch_(&phi, &slope, &step_, &tolerances_.ftol, &tolerances_.gtol, &tolerances_.xtol, &tolerances_.step_min,
                &tolerances_.step_max, task_, integers_, reals_, sizeof task_);
    }

    SearchTolerances tolerances_;
    double step_;
    char task_[60];
    int integers_[2];
    double reals_[13];
};

void check_step_by_step(const std::function<Value(double)> &at, double first_step, const SearchTolerances &tolerances) {
    const Value start = at(0);
    MoreThuente ours;
    ours.start(start.phi, start.slope, first_step, tolerances);
    Reference theirs(start.phi, start.slope, first_step, tolerances);
    SearchVerdict verdict = SearchVerdict::evaluate;
    for (int evaluation = 1; verdict == SearchVerdict::evaluate && evaluation <= 60; evaluation++) {
        INFO("evaluation " << evaluation);
        REQUIRE(ours.step() == Approx(theirs.step()).epsilon(1e-12));
        const Value value = at(theirs.step());
        verdict = theirs.update(value.phi, value.slope);
        REQUIRE(ours.update(value.phi, value.slope) == verdict);
    }
}

} // namespace

TEST_CASE("The line search takes the same steps as dcsrch", "[reference]") {
    for (const LineFunction &function : line_functions())
        for (const double first_step : first_steps) {
            INFO(function.name << " from step " << first_step);
            check_step_by_step(function.at, first_step,
                               {function.ftol, function.gtol, 0.1, 0, 4 * std::fmax(1, first_step)});
            check_step_by_step(function.at, first_step, {function.ftol, function.gtol, 1e-14, 1e-6, 1e10});
            check_step_by_step(function.at, first_step, {1e-4, 0.9, 1e-16, 1e-20, 1e20});
            check_step_by_step(function.at, first_step, {1e-3, 1e-12, 1e-3, 0, first_step * 2});
        }
}

TEST_CASE("The line search fails with the same verdict as dcsrch if no step is acceptable", "[reference]") {
    const auto falling = [](double a) { return Value{-a, -1}; };
    const auto rising = [](double a) { return Value{a, -1}; };
    const auto kink = [](double a) { return Value{std::fabs(a - 3), a < 3 ? -1.0 : 1.0}; };
    const auto constant = [](double) { return Value{1, -1}; };
    for (const double first_step : first_steps)
        for (const double xtol : {0.0, 1e-16, 0.1})
            for (const double step_min : {0.0, 1e-20, 1e-4}) {
                INFO("from step " << first_step << ", xtol = " << xtol << ", stpmin = " << step_min);
                const SearchTolerances tolerances{1e-3, 0.9, xtol, step_min, 1e4};
                check_step_by_step(falling, first_step, tolerances);
                check_step_by_step(rising, first_step, tolerances);
                check_step_by_step(kink, first_step, tolerances);
                check_step_by_step(constant, first_step, tolerances);
            }
}
