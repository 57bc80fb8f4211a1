// What stands behind the opaque handle.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "cuda_opt.h"
#include "solver/solver.hpp"

struct cuda_opt {
    int failure = 0; // why the handle could not be made, with the message; 0: it is good
    int backend = CUDA_OPT_BACKEND_HOST;
    int bits = 64;
    cudaopt::Message failure_message;
    std::unique_ptr<cudaopt::MemorySpace> memory;
    std::unique_ptr<cudaopt::Solver> solver; // NULL if and only if failure is set

    cudaopt::Message &message() { return solver ? solver->message() : failure_message; }
};
