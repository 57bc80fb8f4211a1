/* mpicc minimise_mpi.c $(pkg-config --cflags --libs cuda_opt) -o minimise_mpi && mpirun -n 4 ./minimise_mpi
 *
 * f(x) = sum (x_i - i / n)^2 / 2 in the box [0, 1/2]^n, each rank with its part of x. */
#include <cuda_opt/mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    const int64_t n = 1000000;
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    /* An even cut at segments: then the bits do not depend on the number of ranks. */
    const int64_t segments = cuda_opt_segments(n);
    const int64_t first = cuda_opt_segment(n, segments * rank / ranks);
    const int64_t own = cuda_opt_segment(n, segments * (rank + 1) / ranks) - first;

    double *x = calloc((size_t)own + 1, sizeof *x), *g = calloc((size_t)own + 1, sizeof *g), f;
    cuda_opt *s;
    int task = cuda_opt_create(&s, n, 5, CUDA_OPT_BACKEND_HOST);
    if (task == 0 && (!x || !g)) task = CUDA_OPT_OUT_OF_MEMORY;
    if (task == 0) task = cuda_opt_set_ranks(s, rank, ranks, first, own);
    if (task == 0) task = cuda_opt_set_uniform_bounds(s, 0, 0.5);

    /* So far no rank knows of another's failure. */
    int worst;
    MPI_Allreduce(&task, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (worst == 0) {
        do {
            task = cuda_opt_solve(s, x, &f, g);
            if (task == CUDA_OPT_EXCHANGE) task = cuda_opt_exchange_mpi(s, MPI_COMM_WORLD);
            if (task == CUDA_OPT_EVALUATE_FG) {
                f = 0;
                for (int64_t i = 0; i < own; i++) {
                    g[i] = x[i] - (double)(first + i) / (double)n;
                    f += g[i] * g[i] / 2;
                }
            }
        } while (task > 0);
        if (rank == 0) printf("%s\nf = %.6f\n", cuda_opt_message(s), f);
    }
    cuda_opt_destroy(&s);
    free(x);
    free(g);
    MPI_Finalize();
    return task != CUDA_OPT_CONVERGED;
}
