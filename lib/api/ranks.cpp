// This file implements the functions of the C ABI for ranks, which are handles that solve one problem together.
#include "api/handle.hpp"
#include "cuda_opt/ranks.h"

using namespace cudaopt;

namespace {

int set_ranks(cuda_opt *s, int32_t rank, int32_t ranks, int64_t first, int64_t n) {
    if (const int code = before_solve(s, 0, "cuda_opt_set_ranks")) return code;
    Solver &solver = *s->solver;
    const int64_t of = solver.dimension();
    if (ranks < 1 || rank < 0 || rank >= ranks)
        return s->message().refuse_input("rank %d of %d: a rank is at least 0 and below the number of ranks", rank,
                                         ranks);
    if (first < 0 || n < 0 || first > of || n > of - first)
        return s->message().refuse_input(
            "rank %d is to have %lld variables from variable %lld on, but there are %lld in all", rank, shown(n),
            shown(first), shown(of));
    if (solver.pairs() > 0)
        return s->message().refuse_call("cuda_opt_warm_start has kept %lld pairs of the part that the handle had: "
                                        "cuda_opt_set_ranks needs cuda_opt_reset",
                                        shown(solver.pairs()));
    solver.become_rank({rank, ranks, first, n, of});
    return 0;
}

int exchange(cuda_opt *s, void **send, void **receive, int64_t *bytes) {
    if (const int code = require_solver(s, "cuda_opt_gather")) return code;
    Solver &solver = *s->solver;
    if (!send || !receive || !bytes || !solver.exchanging())
        return s->message().refuse_call("cuda_opt_gather: %s",
                                        solver.exchanging() ? "a pointer is NULL" : "no exchange has been requested");
    Packets &packets = solver.ranks()->packets();
    *send = packets.send();
    *receive = packets.receive();
    *bytes = packets.bytes();
    return 0;
}

int exchange_failed(cuda_opt *s, const char *why) {
    if (const int code = require_solver(s, "cuda_opt_gather_failed")) return code;
    if (!s->solver->exchanging())
        return s->message().refuse_call("cuda_opt_gather_failed: no exchange has been requested");
    return s->solver->end_without_exchange(why ? why : "the caller gave no reason");
}

int fail_rank(cuda_opt *s, const char *why) {
    if (const int code = require_solver(s, "cuda_opt_fail_rank")) return code;
    Solver &solver = *s->solver;
    if (!solver.ranks() || (solver.ended() && !solver.exchanging()))
        return s->message().refuse_call("cuda_opt_fail_rank: %s",
                                        solver.ranks() ? "the solve has ended" : "the handle is not a rank");
    solver.ranks()->fail(CUDA_OPT_MISUSE, why ? why : "the caller failed without giving a reason");
    return 0;
}

} // namespace

int cuda_opt_set_ranks(cuda_opt *s, int32_t rank, int32_t ranks, int64_t first, int64_t n) {
    return call(s, set_ranks, rank, ranks, first, n);
}
int cuda_opt_gather(cuda_opt *s, void **send, void **receive, int64_t *bytes) {
    return call(s, exchange, send, receive, bytes);
}
int cuda_opt_gather_failed(cuda_opt *s, const char *why) { return call(s, exchange_failed, why); }
int cuda_opt_fail_rank(cuda_opt *s, const char *why) { return call(s, fail_rank, why); }

int64_t cuda_opt_segments(int64_t n) { return n < 1 ? 0 : Segments(n).count(); }
int64_t cuda_opt_segment(int64_t n, int64_t segment) {
    if (n < 1 || segment < 0) return 0;
    const Segments segments(n);
    return segments.variable(segment < segments.count() ? segment : segments.count());
}
