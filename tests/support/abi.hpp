// Abi<Real> gives one name to the functions of the C interface that exist for each precision.
#pragma once

#include "cuda_opt.h"

namespace cudaopt_test {

template <class Real> struct Abi;

template <> struct Abi<double> {
    static constexpr auto create = cuda_opt_create;
    static constexpr auto set_bounds = cuda_opt_set_bounds;
    static constexpr auto set_uniform_bounds = cuda_opt_set_uniform_bounds;
    static constexpr auto set_diagonal = cuda_opt_set_diagonal;
    static constexpr auto set_operator = cuda_opt_set_operator;
    static constexpr auto set_scales = cuda_opt_set_scales;
    static constexpr auto get_diagonal = cuda_opt_get_diagonal;
    static constexpr auto solve = cuda_opt_solve;
    static constexpr auto load = cuda_opt_load;
};

template <> struct Abi<float> {
    static constexpr auto create = cuda_opt_create_f32;
    static constexpr auto set_bounds = cuda_opt_set_bounds_f32;
    static constexpr auto set_uniform_bounds = cuda_opt_set_uniform_bounds_f32;
    static constexpr auto set_diagonal = cuda_opt_set_diagonal_f32;
    static constexpr auto set_operator = cuda_opt_set_operator_f32;
    static constexpr auto set_scales = cuda_opt_set_scales_f32;
    static constexpr auto get_diagonal = cuda_opt_get_diagonal_f32;
    static constexpr auto solve = cuda_opt_solve_f32;
    static constexpr auto load = cuda_opt_load_f32;
};

} // namespace cudaopt_test
