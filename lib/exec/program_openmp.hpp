// The threads of the program's own OpenMP, where it has GNU's, or one with the same entry points. After the program's
// parallel evaluation they wait awake, for milliseconds, on the very processors that a pool of ours would need; and in
// its parallel loops, over solves say, they are all that there should be. The library itself neither needs nor brings
// OpenMP: its functions are weak, and NULL where the program has none.
#pragma once

#include <unistd.h>

extern "C" {
__attribute__((weak)) void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
__attribute__((weak)) int omp_get_thread_num(void);
__attribute__((weak)) int omp_get_num_threads(void);
}

namespace cudaopt {

inline const pid_t loaded_by = getpid();

// Whether it is there. Not in a forked child: the threads that it goes by there are the parent's.
inline bool program_has_openmp() {
    return &GOMP_parallel && &omp_get_thread_num && &omp_get_num_threads && getpid() == loaded_by;
}

// Call body(place) for all 0 <= place < places, on so many threads if it lends them; it may not throw.
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
