#include "lbfgsb.hpp"

#include <cmath>
#include <cstring>

// gfortran's calling sequence: everything by reference, then the lengths of the character arguments.
extern "C" void setulb_(const int *n, const int *m, double *x, const double *l, const double *u, const int *nbd,
                        double *f, double *g, const double *factr, const double *pgtol, double *wa, int *iwa,
                        char *task, const int *iprint, char *csave, int *lsave, int *isave, double *dsave,
                        std::size_t task_length, std::size_t csave_length);

namespace cudaopt_test {

namespace {

constexpr std::size_t text_length = 60;

bool begins_with(const char *text, const char *start) { return std::strncmp(text, start, std::strlen(start)) == 0; }

// L-BFGS-B's code for the kind of bounds: 0 none, 1 lower, 2 both, 3 upper.
int bound_code(double lower, double upper) {
    const bool has_lower = std::isfinite(lower), has_upper = std::isfinite(upper);
    return has_lower ? (has_upper ? 2 : 1) : (has_upper ? 3 : 0);
}

} // namespace

ReferenceOutcome solve_reference(const Problem &problem, int m, double pgtol, int64_t most_iterations) {
    const std::size_t n = problem.start.size(), pairs = static_cast<std::size_t>(m);
    const int size = static_cast<int>(n), silent = -1;
    const double factr = 0;
    Vector x = problem.start, g(n), lower = problem.lower, upper = problem.upper;
    lower.resize(n, -INFINITY);
    upper.resize(n, INFINITY);
    std::vector<int> kind(n), iwa(3 * n);
    for (std::size_t i = 0; i < n; i++) kind[i] = bound_code(lower[i], upper[i]);
    Vector wa(2 * pairs * n + 5 * n + 11 * pairs * pairs + 8 * pairs);
    char task[text_length], csave[text_length];
    std::memset(task, ' ', text_length);
    std::memset(csave, ' ', text_length);
    std::memcpy(task, "START", 5);
    int lsave[4], isave[44];
    double dsave[29], f = 0;

    ReferenceOutcome outcome;
    for (;;) {
        setulb_(&size, &m, x.data(), lower.data(), upper.data(), kind.data(), &f, g.data(), &factr, &pgtol, wa.data(),
                iwa.data(), task, &silent, csave, lsave, isave, dsave, text_length, text_length);
        // isave(34): evaluations so far; dsave(13): the norm of the projected gradient.
        if (begins_with(task, "FG")) {
            f = problem.evaluate(x, g);
            if (outcome.history.empty()) outcome.history.push_back({f, NAN, 1});
        } else if (begins_with(task, "NEW_X")) {
            outcome.history.push_back({f, dsave[12], isave[33]});
            if (outcome.iterations() == most_iterations) break;
        } else {
            break;
        }
    }
    outcome.x = x;
    outcome.f = f;
    outcome.evaluations = isave[33];
    outcome.task.assign(task, text_length);
    outcome.task.erase(outcome.task.find_last_not_of(' ') + 1);
    return outcome;
}

} // namespace cudaopt_test
