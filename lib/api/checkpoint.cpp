// This file implements the functions of the C ABI for checkpoints and warm starts.
#include "api/handle.hpp"

using namespace cudaopt;

namespace {

// A checkpoint is not possible on a rank, because all ranks would have to save their states at the same moment.
int refuse_rank(cuda_opt *s) {
    if (!s->solver->ranks()) return 0;
    return s->message().refuse_call("a handle that is rank %d of %d has no checkpoint: cuda_opt_save and cuda_opt_load "
                                    "are for handles that have all variables",
                                    s->solver->ranks()->part().rank, s->solver->ranks()->part().ranks);
}

int save(cuda_opt *s, void *buffer, int64_t *bytes) {
    if (const int code = require_solver(s, "cuda_opt_save")) return code;
    if (const int code = require_no_log(*s, "cuda_opt_save")) return code;
    if (const int code = refuse_rank(s)) return code;
    Solver &solver = *s->solver;
    if (!bytes) return s->message().refuse_call("cuda_opt_save: bytes is NULL");
    if (solver.uses_operator())
        return s->message().refuse_call("a solve with an operator as initial Hessian has no checkpoint");
    if (!solver.can_save())
        return s->message().refuse_call(
            "there is no solve to save: none has begun, or a failure of the machine has ended it");
    const int64_t there = *bytes, needed = *bytes = solver.save(nullptr);
    if (!buffer) return 0;
    if (there < needed)
        return s->message().refuse_input("the checkpoint takes %lld bytes, but the buffer has %lld", shown(needed),
                                         shown(there));
    solver.save(static_cast<unsigned char *>(buffer));
    return 0;
}

int load(cuda_opt *s, int bits, const void *buffer, int64_t bytes, void *x, double *f, void *g) {
    if (const int code = take_arrays(s, bits, "cuda_opt_load", x, f, g)) return code;
    if (const int code = refuse_rank(s)) return code;
    if ((!buffer && bytes > 0) || bytes < 0)
        return s->message().refuse_call("cuda_opt_load: the buffer is NULL, or its number of bytes is negative");
    return s->solver->load(static_cast<const unsigned char *>(buffer), bytes);
}

int warm_start(cuda_opt *s) {
    if (const int code = require_solver(s, "cuda_opt_warm_start")) return code;
    if (const int code = require_no_log(*s, "cuda_opt_warm_start")) return code;
    s->solver->warm_start();
    return 0;
}

} // namespace

int cuda_opt_save(cuda_opt *s, void *buffer, int64_t *bytes) { return call(s, save, buffer, bytes); }
int cuda_opt_load(cuda_opt *s, const void *buffer, int64_t bytes, double *x, double *f, double *g) {
    return call(s, load, 64, buffer, bytes, x, f, g);
}
int cuda_opt_load_f32(cuda_opt *s, const void *buffer, int64_t bytes, float *x, double *f, float *g) {
    return call(s, load, 32, buffer, bytes, x, f, g);
}
int cuda_opt_warm_start(cuda_opt *s) { return call(s, warm_start); }
