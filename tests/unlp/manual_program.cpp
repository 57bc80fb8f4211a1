// This C++ program uses the manual's names on the host. It includes the headers that the manual specifies and calls
// my_reduce with its eight arguments. Usage: manual_program [n [m]], where n is even.
#include "cu.lbfgs_dp.h"
#include "utils.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

std::vector<double> terms, partial_sums;
int threads, blocks;

void rosenbrock(double *dev_x, double *dev_objf, double *dev_grad, int n) {
    for (int pair = 0; pair < n / 2; pair++) {
        const double a = dev_x[2 * pair], b = dev_x[2 * pair + 1];
        const double valley = b - a * a, slope = 1 - a;
        terms[pair] = 100 * valley * valley + slope * slope;
        dev_grad[2 * pair] = -400 * a * valley - 2 * slope;
        dev_grad[2 * pair + 1] = 200 * valley;
    }
    my_reduce(n / 2, threads, blocks, 256, 64, terms.data(), partial_sums.data(), dev_objf);
}

} // namespace

int main(int argc, char **argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000000;
    const int m = argc > 2 ? std::atoi(argv[2]) : 7;
    if (n < 2 || m < 1) return 2;
    std::vector<double> x(n), gradient(n), solution(n);
    for (int i = 0; i < n; i++) x[i] = i % 2 == 0 ? -1.2 : 1;
    getNumBlocksAndThreads(n / 2, &blocks, &threads);
    terms.resize(n / 2);
    partial_sums.resize(blocks);

    double f = 0;
    int istate = 0;
    std::printf("Function to minimize: Rosenbrock\n");
    set_iprint(1, 0);
    change_eps(1e-5);
    const int info =
        cuda_opt_unlp_solve(n, m, rosenbrock, x.data(), &f, gradient.data(), nullptr, nullptr, 1e-5, &istate);
    get_solution(solution.data(), x.data(), n);
    print_vector(x.data(), 2);
    std::printf("info = %d, istate = %d, f = %.4e, x[0] = %.6f\n", info, istate, f, solution[0]);

    double again = 0; // the sum of the last terms by the form with fewer arguments
    my_reduce(n / 2, threads, blocks, terms.data(), partial_sums.data(), &again);
    if (again != f) return 3;

    // A small problem is solved with the diagonal of its H0, here the identity, and without a log.
    const int small = n < 1000 ? n : 1000;
    std::vector<double> diagonal(small, 1.);
    for (int i = 0; i < small; i++) x[i] = i % 2 == 0 ? -1.2 : 1;
    enable_first_Hessian();
    set_iprint(-1, 0);
    return info + cuda_opt_unlp_solve(small, m, rosenbrock, x.data(), &f, gradient.data(), diagonal.data(), nullptr,
                                      1e-5, &istate);
}
