// Test problems: minimise f(x), perhaps subject to l <= x <= u. One interface for all of them, on host and CUDA.
//
//     auto problem = make_problem("rosenbrock", 1000000);
//     problem->start(0, problem->n(), x);
//     problem->evaluate(x, &f, g, Place{});
#pragma once

#include "testfuncs/facts.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudaopt::testfuncs {

// Where x, f and g of an evaluation live, and what computes on them.
struct Place {
    enum class Space { host, cuda };
    Space space = Space::host;
    int threads = 0;        // of the host; 0: all of the machine's. The bits do not depend on it
    void *stream = nullptr; // the cudaStream_t on which the evaluation is queued; null: the legacy default stream
};

class Problem {
  public:
    virtual ~Problem() = default;

    virtual const Facts &facts() const = 0;
    // Number of variables.
    virtual int64_t n() const = 0;
    // How the variables are laid out, e.g. "200 x 200 interior points"; empty where they are just numbered.
    virtual std::string shape() const = 0;
    // The least value of f in the problem's own box, where it is known.
    virtual std::optional<double> minimum() const = 0;
    // Whether the problem has bounds of its own.
    virtual bool bounded() const = 0;

    // The standard start: components first <= i < first + count, i from 0, to host memory.
    virtual void start(int64_t first, int64_t count, double *x) const = 0;
    virtual void start(int64_t first, int64_t count, float *x) const = 0;
    // Likewise the bounds; infinite where the problem has none.
    virtual void lower(int64_t first, int64_t count, double *l) const = 0;
    virtual void lower(int64_t first, int64_t count, float *l) const = 0;
    virtual void upper(int64_t first, int64_t count, double *u) const = 0;
    virtual void upper(int64_t first, int64_t count, float *u) const = 0;

    // f(x) and its gradient, both to the place where x lives. The arithmetic is double also where x and g are float.
    // On CUDA the evaluation is queued on the stream, not waited for; one problem's evaluations belong on one stream.
    // Throws std::runtime_error where CUDA fails, or is asked for and was not built in
    virtual void evaluate(const double *x, double *f, double *g, const Place &place) = 0;
    virtual void evaluate(const float *x, double *f, float *g, const Place &place) = 0;
};

// All problems there are, in the order of their appearance.
std::vector<Facts> list_problems();

// A problem by name with about n variables: n() says how many.
// Throws std::invalid_argument with a sentence: an unknown name, an n that does not fit, a parameter
// that is unknown or out of its range
std::unique_ptr<Problem> make_problem(const std::string &name, int64_t n, const Parameters &parameters = {});

} // namespace cudaopt::testfuncs
