// Defines the functions that create objects for an executor, for all precisions.
#pragma once

#include "backend/makers.hpp"
#include "gradient_check/check_sweeps_on.hpp"
#include "operator/operator_sweeps_on.hpp"
#include "pattern/sweeps_on.hpp"
#include "scaling/scaled_variables_on.hpp"

namespace cudaopt {

template <class Interface, template <class, class> class On, class Executor>
std::unique_ptr<Interface> make_for_precision(int64_t n, int bits, int device) {
    if (bits == 32) return std::make_unique<On<Executor, float>>(n, device);
    return std::make_unique<On<Executor, double>>(n, device);
}

template <class Executor>
std::unique_ptr<OperatorSweeps> make_operator_sweeps(int64_t n, int bits, int history_bits, int device) {
    const auto of = [=](auto real, auto history) -> std::unique_ptr<OperatorSweeps> {
        return std::make_unique<OperatorSweepsOn<Executor, decltype(real), decltype(history)>>(n, device);
    };
    if (bits == 32) return history_bits == 16 ? of(float(), bfloat16()) : of(float(), float());
    if (history_bits == 16) return of(double(), bfloat16());
    if (history_bits == 32) return of(double(), float());
    return of(double(), double());
}

template <class Executor> std::unique_ptr<SearchSweeps> make_search_sweeps(int device) {
    return std::make_unique<SearchSweepsOn<Executor>>(device);
}

template <class Executor>
constexpr Makers makers_on = {make_for_precision<CheckSweeps, CheckSweepsOn, Executor>, make_operator_sweeps<Executor>,
                              make_for_precision<ScaledVariables, ScaledVariablesOn, Executor>,
                              make_search_sweeps<Executor>};

} // namespace cudaopt
