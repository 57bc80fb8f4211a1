/* Usage: unloads LIBCUDA_OPT LIBCUDA_OPT_SETULB
 *
 * Repeatedly loads the libraries, solves with threads, and unloads the libraries, also in threads that end after
 * that. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_opt.h"
#include "cuda_opt_setulb.h"

enum { n = 20000, m = 3, rounds = 10 };

static double x[n], g[n], f;
static const char *library, *setulb_library;

static void *load(const char *path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        fprintf(stderr, "unloads: %s\n", dlerror());
        exit(1);
    }
    return handle;
}

/* POSIX describes this conversion of an object pointer to a function pointer. */
#define FIND(handle, function)                                                                                         \
    __typeof__(&function) function##_found;                                                                            \
    *(void **)&function##_found = dlsym(handle, #function)

static void evaluate(void) {
    f = 0;
    for (int i = 0; i < n; i++) {
        g[i] = (1 + i % 7) * (x[i] - 1);
        f += g[i] * (x[i] - 1) / 2;
    }
}

static void *solve_and_unload(void *unused) {
    void *handle = load(library);
    FIND(handle, cuda_opt_create);
    FIND(handle, cuda_opt_set_int);
    FIND(handle, cuda_opt_solve);
    FIND(handle, cuda_opt_destroy);
    cuda_opt *s;
    int task = cuda_opt_create_found(&s, n, m, CUDA_OPT_BACKEND_HOST);
    if (task == 0) task = cuda_opt_set_int_found(s, CUDA_OPT_THREADS, 2);
    memset(x, 0, sizeof x);
    if (task == 0)
        while ((task = cuda_opt_solve_found(s, x, &f, g)) > 0) evaluate();
    cuda_opt_destroy_found(&s);
    dlclose(handle);
    if (task != CUDA_OPT_CONVERGED) {
        fprintf(stderr, "unloads: task %d\n", task);
        exit(1);
    }
    return unused;
}

static void solve_by_setulb(void) {
    static double wa[2 * m * n + 5 * n + 11 * m * m + 8 * m], dsave[29];
    static int nbd[n], iwa[3 * n], lsave[4], isave[44];
    char task[60], csave[60];
    const int size = n, pairs = m, silent = -1;
    const double factr = 0, pgtol = 1e-3;
    void *handle = load(setulb_library);
    FIND(handle, setulb_);
    memset(task, ' ', sizeof task);
    memcpy(task, "START", 5);
    memset(x, 0, sizeof x);
    do {
        setulb__found(&size, &pairs, x, x, x, nbd, &f, g, &factr, &pgtol, wa, iwa, task, &silent, csave, lsave, isave,
                      dsave, sizeof task, sizeof csave);
        if (strncmp(task, "FG", 2) == 0) evaluate();
    } while (strncmp(task, "FG", 2) == 0 || strncmp(task, "NEW_X", 5) == 0);
    dlclose(handle);
    if (strncmp(task, "CONVERGENCE", 11) != 0) {
        fprintf(stderr, "unloads: %.60s\n", task);
        exit(1);
    }
}

int main(int argc, char **argv) {
    const struct timespec moment = {0, 2000000};
    if (argc != 3) return 2;
    library = argv[1];
    setulb_library = argv[2];
    setenv("CUDA_OPT_BACKEND", "host", 1);
    for (int round = 0; round < rounds; round++) {
        pthread_t thread;
        solve_and_unload(NULL);
        solve_by_setulb();
        if (pthread_create(&thread, NULL, solve_and_unload, NULL) != 0) return 1;
        pthread_join(thread, NULL);
        nanosleep(&moment, NULL); /* after this time, the remaining threads are asleep */
    }
    return 0;
}
