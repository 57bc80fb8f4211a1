// Calls all functions of cuda_opt.h on the host backend in random order with random, hostile and NaN arguments.
#include <cmath>
#include <cstring>

#include "abi.hpp"
#include "cuda_opt_batch.h"

namespace fuzz {

// Tests handles that cannot be created or whose workspace exceeds any memory: each call returns its code and message.
void refused_episode(Run &run) {
    Random &random = run.random;
    cuda_opt *s = nullptr;
    const int64_t huge = random.pick<int64_t>({INT64_MAX, INT64_MAX / 8, int64_t{1} << 60, int64_t{1} << 45});
    const int64_t n = random.pick<int64_t>({0, -1, INT64_MIN, huge, huge, 3});
    const auto m = static_cast<int32_t>(random.pick<int64_t>({0, -1, INT32_MIN, INT32_MAX, 100000, 2785, 5, 5, 5}));
    const auto backend = static_cast<int32_t>(random.pick<int64_t>({CUDA_OPT_BACKEND_HOST, 2, 2, 3, -1, INT32_MIN}));
    const auto kind = random.below(4);
    run.trace("kind %lld, n = %lld, m = %d, backend %d", static_cast<long long>(kind), static_cast<long long>(n), m,
              backend);
    const int code = run.call("cuda_opt_create", [&] {
        return kind == 0   ? cuda_opt_create(&s, n, m, backend)
               : kind == 1 ? cuda_opt_create_f32(&s, n, m, backend)
               : kind == 2 ? cuda_opt_create_search(&s, random.pick<int64_t>({n, 3}), n, backend)
                           : cuda_opt_create_batch(&s, 3, n, m, backend);
    });
    check_code(run, s, "create", code, {0, CUDA_OPT_IMPROPER_INPUT, CUDA_OPT_OUT_OF_MEMORY});
    run.require(s, "no_handle", "no handle was returned");
    // The arrays are too short for n, but they are not read before the workspace exists, which is never the case here.
    // Solves with n = 3 are not tested here.
    double x[8] = {}, f = 0, g[8] = {}, value = 0;
    float x_single[8] = {}, g_single[8] = {};
    int64_t number = 0;
    void *memory = nullptr;
    for (int k = 0; k < 20; k++) {
        int back = 0;
        switch (random.below(19)) {
        case 0: back = cuda_opt_set_int(s, CUDA_OPT_THREADS, random.from_to(0, 4)); break;
        case 1: back = cuda_opt_set_real(s, CUDA_OPT_EPS, std::fabs(random.hostile())); break;
        case 2: back = cuda_opt_get_int(s, CUDA_OPT_ITERATIONS, &number); break;
        case 3: back = cuda_opt_get_real(s, CUDA_OPT_F, &value); break;
        case 4: back = cuda_opt_reset(s); break;
        case 5: back = cuda_opt_request_stop(s); break;
        case 6: back = cuda_opt_backend(s); break;
        case 7:
            back = cuda_opt_alloc(s, &memory, 8);
            if (back == 0) back = cuda_opt_copy_in(s, memory, x, 8);
            cuda_opt_free(s, memory);
            break;
        case 8: back = cuda_opt_synchronize(s); break;
        case 9: back = cuda_opt_set_stream(s, nullptr); break;
        case 10: back = cuda_opt_set_log(s, nullptr, nullptr); break;
        case 11: back = cuda_opt_search_ranked(s, 0, &number); break;
        case 12: back = cuda_opt_search_walk(s, 0, nullptr, &value); break;
        case 13: back = cuda_opt_save(s, random.chance(0.5) ? x : nullptr, &number); break;
        case 14: back = cuda_opt_load(s, x, sizeof x, g, &f, g); break;
        case 15: back = cuda_opt_warm_start(s); break;
        case 16: back = cuda_opt_batch_get_int(s, CUDA_OPT_BATCH_CODE, &number); break;
        case 17:
            run.require(!cuda_opt_batch_active(s) && std::strlen(cuda_opt_batch_message(s, 0)) > 8, "batch_unmade", "");
            back = code;
            break;
        default:
            if (code == 0 && n < (int64_t{1} << 44)) break;
            back = run.call("cuda_opt_solve", [&] {
                return kind == 0   ? cuda_opt_solve(s, x, &f, g)
                       : kind == 1 ? cuda_opt_solve_f32(s, x_single, &f, g_single)
                       : kind == 2 ? cuda_opt_search_solve(s, x, g)
                                   : cuda_opt_batch_solve(s, x, &f, g);
            });
            run.trace("solve = %d: %s", back, cuda_opt_message(s));
            if (code == 0)
                check_code(run, s, "huge_solve", back,
                           {CUDA_OPT_OUT_OF_MEMORY, CUDA_OPT_MISUSE, CUDA_OPT_IMPROPER_INPUT});
        }
        if (code != 0) check_code(run, s, "failed_handle", back, {code});
        else
            check_code(run, s, "huge_handle", back > 0 ? 0 : back,
                       {0, CUDA_OPT_OUT_OF_MEMORY, CUDA_OPT_MISUSE, CUDA_OPT_IMPROPER_INPUT}, true);
    }
    cuda_opt_destroy(&s);
    run.require(!s, "destroy", "the pointer is not NULL afterwards");
}

} // namespace fuzz

int main(int count, char **arguments) {
    return fuzz::run_episodes(count, arguments,
                              {{"solver", 0.48, fuzz::solver_episode},
                               {"operator", 0.04, fuzz::operator_episode},
                               {"check", 0.03, fuzz::check_episode},
                               {"scales", 0.05, fuzz::scales_episode},
                               {"ranks", 0.1, fuzz::ranks_episode},
                               {"threads", 0.03, fuzz::threads_episode},
                               {"batch", 0.1, fuzz::batch_episode},
                               {"search", 0.11, fuzz::search_episode},
                               {"checkpoints", 0.02, fuzz::checkpoints_episode},
                               {"refused", 0.04, fuzz::refused_episode}});
}
