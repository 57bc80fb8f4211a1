// The host's threads. Each thread that shares out work has a pool of its own, made when it first does, and kept. The
// pieces of the work are a function of its count and of the threads asked for; who does a piece is not: the thread that
// it is meant for or, where that one is late or could not be made, another. So what the pieces come to does not depend
// on the threads that the system grants. Where the program has threads of OpenMP, those are taken instead.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cudaopt {

// Threads to share among. A number that was asked for, or OMP_NUM_THREADS where it is a positive number, is taken as it
// is. Without one it is at most the processors that this process may use, and of these as many as make the work's time
// shortest: fewer for little work, and beside other processes (team_size.hpp).
struct HostThreads {
    int most;
    bool learned;
    int first; // where learning begins

    HostThreads(int asked); // 0: without a number
    HostThreads at_most(int64_t limit) const {
        HostThreads fewer = *this;
        fewer.most = static_cast<int>(std::clamp<int64_t>(limit, 1, most));
        return fewer;
    }
    // For n variables: a thread for each thousand of them at most; with an eighth of that learning begins.
    HostThreads for_variables(int64_t n) const {
        HostThreads fewer = at_most(n / 1024);
        fewer.first = static_cast<int>(std::clamp<int64_t>(n / 8192, 1, fewer.most));
        return fewer;
    }
};

// A piece of a body's work: all k with first <= k < last.
using Chunk = void (*)(const void *body, int64_t first, int64_t last, int place);

// Do all pieces, at most one for each thread; they are contiguous, and of the same length but for one. Within a piece
// the work is not shared out again. Nothing is allocated but with more threads than this thread has shared among so
// far. What a piece throws is thrown here, when all are done.
void share_chunks(int64_t count, HostThreads threads, Chunk chunk, const void *body);

// Call body(k, place) for 0 <= k < count, shared among so many threads: no two at a time have the same place, which is
// below `threads.most`.
template <class Body> void share_host(int64_t count, const Body &body, HostThreads threads) {
    const auto chunk = [](const void *shared, int64_t first, int64_t last, int place) {
        for (int64_t k = first; k < last; k++) (*static_cast<const Body *>(shared))(k, place);
    };
    if (threads.most == 1) chunk(&body, 0, count, 0);
    else share_chunks(count, threads, chunk, &body);
}

} // namespace cudaopt
