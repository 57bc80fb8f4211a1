// This header declares parallel loops on the threads of the host. Each thread of the caller that runs a parallel loop
// owns a pool of threads, which is created by its first loop and kept. The division of a loop into chunks depends only
// on the number of iterations and on the requested number of threads. If a thread is late or could not be created,
// another thread executes its chunk. Results therefore do not depend on how many threads the system provides. If the
// program has OpenMP, the OpenMP threads are used instead of a pool.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cudaopt {

// HostThreads describes the number of threads for a parallel loop. A number that the user sets, or a positive
// OMP_NUM_THREADS, is used unchanged. Otherwise the maximum is the number of processors available to this process, and
// measurements find the number with the shortest run time. This number is lower if there is little work, or if other
// processes use the processors (team_size.hpp).
struct HostThreads {
    int most;
    bool learned;
    int first; // The measurements begin with this number of threads.

    // The argument is the number of threads that the user has set, or 0 if the user has set none.
    HostThreads(int asked);
    HostThreads at_most(int64_t limit) const {
        HostThreads fewer = *this;
        fewer.most = static_cast<int>(std::clamp<int64_t>(limit, 1, most));
        return fewer;
    }
    // Returns the number of threads for an operation with this amount of work, n m. OpenMP threads also spin while the
    // caller evaluates f, so that they are used only if each of them has enough work.
    HostThreads for_work(int64_t work) const;
    // Returns the number of threads for n variables, at most one per 1024 variables. The measurements begin with one
    // thread per 8192 variables.
    HostThreads for_variables(int64_t n) const {
        HostThreads fewer = at_most(n / 1024);
        fewer.first = static_cast<int>(std::clamp<int64_t>(n / 8192, 1, fewer.most));
        return fewer;
    }
};

// A Chunk is a function that executes the iterations first <= k < last of a loop. The argument `place` is the number of
// the chunk.
using Chunk = void (*)(const void *body, int64_t first, int64_t last, int place);

// Divides the loop over 0 <= k < count into contiguous chunks, at most one per thread, and executes all of them. The
// lengths of the chunks differ by at most 1. Parallel loops within a chunk run serially. Memory is allocated only if
// the number of threads exceeds that of all earlier calls by this thread. An exception thrown by a chunk is rethrown
// here after all chunks have ended.
void share_chunks(int64_t count, HostThreads threads, Chunk chunk, const void *body);

// Calls body(k, place) for 0 <= k < count on up to `threads.most` threads. The argument `place`, 0 <= place <
// threads.most, differs between calls that run concurrently. It can be used as the index of memory for each thread.
template <class Body> void share_host(int64_t count, const Body &body, HostThreads threads) {
    const auto chunk = [](const void *shared, int64_t first, int64_t last, int place) {
        for (int64_t k = first; k < last; k++) (*static_cast<const Body *>(shared))(k, place);
    };
    if (threads.most == 1) chunk(&body, 0, count, 0);
    else share_chunks(count, threads, chunk, &body);
}

} // namespace cudaopt
