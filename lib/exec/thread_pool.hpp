// The host's threads. Each thread that shares out work has a pool of its own, made when it first does, and kept. The
// pieces of the work are a function of its count and of the threads asked for; who does a piece is not: the thread that
// it is meant for or, where that one is late or could not be made, another. So what the pieces come to does not depend
// on the threads that the system grants. Where the program has threads of OpenMP, those are taken instead.
#pragma once

#include <cstdint>

namespace cudaopt {

// Threads to share among when the caller asks for this many, 0 meaning all of the machine's: OMP_NUM_THREADS where it
// is a positive number, else the processors that this process may use.
int host_threads(int asked);

// A piece of a body's work: all k with first <= k < last.
using Piece = void (*)(const void *body, int64_t first, int64_t last, int place);

// Do all pieces, at most one for each thread; they are contiguous, and of the same length but for one. Within a piece
// the work is not shared out again. Nothing is allocated but with more threads than this thread has shared among so
// far. What a piece throws is thrown here, when all are done.
void share_pieces(int64_t count, int threads, Piece piece, const void *body);

// Call body(k, place) for 0 <= k < count, shared among so many threads: no two at a time have the same place, which is
// below `threads`.
template <class Body> void share_host(int64_t count, const Body &body, int threads) {
    const auto piece = [](const void *shared, int64_t first, int64_t last, int place) {
        for (int64_t k = first; k < last; k++) (*static_cast<const Body *>(shared))(k, place);
    };
    if (threads == 1) piece(&body, 0, count, 0);
    else share_pieces(count, threads, piece, &body);
}

} // namespace cudaopt
