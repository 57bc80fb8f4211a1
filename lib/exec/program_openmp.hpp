// Gives access to the threads of the program's own OpenMP runtime, if the program uses GNU's runtime or one with the
// same entry points. After a parallel evaluation of f, OpenMP threads spin for milliseconds on the processors that a
// thread pool of the library would need. Within a parallel loop of the program, for example over several solves, the
// library must not create further threads. The library itself does not depend on OpenMP: the functions of the runtime
// are weak symbols, which are NULL if the program has no OpenMP.
#pragma once

#include <unistd.h>

extern "C" {
__attribute__((weak)) void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
__attribute__((weak)) int omp_get_thread_num(void);
__attribute__((weak)) int omp_get_num_threads(void);
}

namespace cudaopt {

inline const pid_t loaded_by = getpid();

// Returns whether the program has OpenMP. It returns false in a forked child, because the threads of the runtime exist
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
