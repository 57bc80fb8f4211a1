/* This program uses the manual's names on the host. It minimises the extended Rosenbrock function by the same call as
 * the manual's example. Usage: manual_program [n [m]], where n is even. */
#include "cu_lbfgs_dp.h"
#include "driver.h"
#include "functions.h"
#include "utils.h"

static double *d_temp, *d_odata;
static int red_threads, red_blocks;

static void Rosenbrock(double *dev_x, double *dev_f, double *dev_g, int n) {
    for (int i = 0; i < n; i += 2) {
        const double a = dev_x[i], b = dev_x[i + 1];
        const double valley = b - a * a, slope = 1 - a;
        d_temp[i / 2] = 100 * valley * valley + slope * slope;
        dev_g[i] = -400 * a * valley - 2 * slope;
        dev_g[i + 1] = 200 * valley;
    }
    my_reduce(n / 2, red_threads, red_blocks, d_temp, d_odata, dev_f);
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1000000;
    const int m = argc > 2 ? atoi(argv[2]) : 7;
    const size_t values = n > 0 ? (size_t)n : 1, pairs = m > 0 ? (size_t)m : 1;
    double *const dev_x = malloc(values * sizeof(double)), *const dev_grad = malloc(values * sizeof(double));
    double *const h_x = malloc(values * sizeof(double));
    double *const dev_workvec = malloc((values * (2 * pairs + 1) + 2 * pairs) * sizeof(double));
    double dev_objf = 0;
    int dev_istate = 0;
    set_device_ID(get_best_device_id());
    gpu_mem_info();
    getNumBlocksAndThreads(n / 2, &red_blocks, &red_threads);
    d_temp = malloc(values * sizeof(double));
    d_odata = malloc(values * sizeof(double));
    if (!dev_x || !dev_grad || !h_x || !dev_workvec || !d_temp || !d_odata) return 2;
    for (int i = 0; i < n; i++) dev_x[i] = i % 2 == 0 ? -1.2 : 1;

    printf("Function to minimize: Rosenbrock\n");
    const int info =
        cuda_opt_unlp_solve(n, m, Rosenbrock, dev_x, &dev_objf, dev_grad, NULL, dev_workvec, 1e-5, &dev_istate);
    get_solution(h_x, dev_x, n);
    print_vector(dev_x, n < 2 ? n : 2);
    printf("info = %d, istate = %d, f = %.4e, x[0] = %.6f\n", info, dev_istate, dev_objf, h_x[0]);
    double again = 0; /* the sum of the last terms by the form of my_reduce with all arguments */
    my_reduce(n / 2, red_threads, red_blocks, 256, 64, d_temp, d_odata, &again);
    if (again != dev_objf) return 3;
    free(d_odata);
    free(d_temp);
    free(dev_workvec);
    free(h_x);
    free(dev_grad);
    free(dev_x);
    return info;
}
