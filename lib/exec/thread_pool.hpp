// The threads of the host. Each thread of the caller that runs a parallel loop has its own pool of threads, which is
// created at its first loop and kept. The division of a loop into chunks is a function of its count and of the
// requested number of threads. Any thread may execute a chunk: if a thread is late or could not be created, another one
// takes its chunk. Results therefore do not depend on the threads that the system grants. If the program has OpenMP,
// its threads are used instead.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cudaopt {

// The number of threads for a parallel loop. A number that the user sets, or a positive OMP_NUM_THREADS, is used as it
// is. Otherwise the maximum is the number of processors available to this process, and the number with the least run
// time is found by measurement. It is lower if there is little work or if other processes use the processors
// (team_size.hpp).
struct HostThreads {
    int most;
    bool learned;
    int first; // the number of threads with which the measurements begin

    HostThreads(int asked); // the argument 0 means that the user has not set a number
    HostThreads at_most(int64_t limit) const {
        HostThreads fewer = *this;
        fewer.most = static_cast<int>(std::clamp<int64_t>(limit, 1, most));
        return fewer;
    }
    // Returns the number of threads for n variables: at most one thread per 1024 variables. The measurements begin with
    // one thread per 8192 variables.
    HostThreads for_variables(int64_t n) const {
        HostThreads fewer = at_most(n / 1024);
        fewer.first = static_cast<int>(std::clamp<int64_t>(n / 8192, 1, fewer.most));
        return fewer;
    }
};

// A function that executes a chunk of a loop: all k with first <= k < last. place: the number of the thread.
using Chunk = void (*)(const void *body, int64_t first, int64_t last, int place);

// Divides a loop over 0 <= k < count into contiguous chunks, at most one per thread, and executes all of them. The
// lengths of the chunks differ by at most 1. Loops within a chunk run serially. Memory is allocated only if the number
// of threads exceeds that of all earlier calls by this thread. An exception thrown by a chunk is rethrown here after
// all chunks have ended.
void share_chunks(int64_t count, HostThreads threads, Chunk chunk, const void *body);

// Calls body(k, place) for 0 <= k < count on up to `threads.most` threads. Concurrent calls have different values of
// place, 0 <= place < threads.most.
template <class Body> void share_host(int64_t count, const Body &body, HostThreads threads) {
    const auto chunk = [](const void *shared, int64_t first, int64_t last, int place) {
        for (int64_t k = first; k < last; k++) (*static_cast<const Body *>(shared))(k, place);
    };
    if (threads.most == 1) chunk(&body, 0, count, 0);
    else share_chunks(count, threads, chunk, &body);
}

} // namespace cudaopt
