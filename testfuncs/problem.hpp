// Test problems: minimise f(x), perhaps subject to l <= x <= u. All of them have one interface, on host and CUDA.
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

// States in which memory space x, f and g are, and on which threads or which stream they are evaluated.
struct Place {
    enum class Space { host, cuda };
    Space space = Space::host;
    // The number of host threads; 0: all processors. The result is bitwise independent of this number.
    int threads = 0;
    // The CUDA stream (cudaStream_t) on which the evaluation is enqueued. NULL is the legacy default stream.
    void *stream = nullptr;
};

class Problem {
  public:
    virtual ~Problem() = default;

    virtual const Facts &facts() const = 0;
    // Returns the number of variables of the problem.
    virtual int64_t n() const = 0;
    // Returns the arrangement of the variables, e.g. "200 x 200 interior points", or an empty string if there is none.
    virtual std::string shape() const = 0;
    // Returns the least value of f subject to the problem's own bounds, if it is known.
    virtual std::optional<double> minimum() const = 0;
    // Returns whether the problem has bounds of its own.
    virtual bool bounded() const = 0;

    // Copies the components first <= i < first + count of the standard start to host memory, where i begins at 0.
    virtual void start(int64_t first, int64_t count, double *x) const = 0;
    virtual void start(int64_t first, int64_t count, float *x) const = 0;
    // Copies the components first <= i < first + count of the lower or upper bounds to host memory. They are infinite
    // if the problem has no bounds.
    virtual void lower(int64_t first, int64_t count, double *l) const = 0;
    virtual void lower(int64_t first, int64_t count, float *l) const = 0;
    virtual void upper(int64_t first, int64_t count, double *u) const = 0;
    virtual void upper(int64_t first, int64_t count, float *u) const = 0;

    // Computes f(x) and its gradient in the memory space of x. Arithmetic is in double precision even if x and g are
    // float. On CUDA the evaluation is enqueued on the stream without synchronisation. All evaluations of one problem
    // must use one stream. Throws std::runtime_error if CUDA fails, or if it is requested in a build without CUDA.
    virtual void evaluate(const double *x, double *f, double *g, const Place &place) = 0;
    virtual void evaluate(const float *x, double *f, float *g, const Place &place) = 0;
};

// Returns the descriptions of all test problems, in a fixed order.
std::vector<Facts> list_problems();

// Creates a test problem by its name with about n variables; the member function n() returns the exact number. Throws
// std::invalid_argument with a message if the name is unknown, n is not possible, or a parameter is unknown or out of
// range.
std::unique_ptr<Problem> make_problem(const std::string &name, int64_t n, const Parameters &parameters = {});

} // namespace cudaopt::testfuncs
