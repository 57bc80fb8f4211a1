// These functions use the threads of the OpenMP runtime of the calling program, if the program has one. The runtime
// must be GNU's or have the same entry points. There are two reasons to use these threads. First, OpenMP threads spin
// for milliseconds after a parallel evaluation of f and would compete with a thread pool of the library for the
// processors. Second, the library must not create further threads within a parallel loop of the program, for example
// over several solves. The library itself does not depend on OpenMP. It declares the functions of the runtime as weak
// symbols, which are NULL if the program has no OpenMP.
#pragma once

#include <unistd.h>

extern "C" {
__attribute__((weak)) void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
__attribute__((weak)) int omp_get_thread_num(void);
__attribute__((weak)) int omp_get_num_threads(void);
}

namespace cudaopt {

inline const pid_t loaded_by = getpid();

// Returns whether the program has OpenMP. In a forked child it returns false, because the threads of the runtime exist
// only in the parent.
inline bool program_has_openmp() {
    return &GOMP_parallel && &omp_get_thread_num && &omp_get_num_threads && getpid() == loaded_by;
}

// Calls body(place) once for each 0 <= place < places, on up to `threads` OpenMP threads. The body must not throw.
template <class Body> void in_program_team(int threads, int places, const Body &body) {
    struct Call {
        const Body &body;
        int places;
        static void share(void *data) {
            const Call &call = *static_cast<const Call *>(data);
            for (int place = omp_get_thread_num(); place < call.places; place += omp_get_num_threads())
                call.body(place);
        }
    } call{body, places};
    GOMP_parallel(Call::share, &call, static_cast<unsigned>(threads), 0);
}

} // namespace cudaopt
