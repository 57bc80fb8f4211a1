#include "report.hpp"

#include <cstdio>
#include <string>

#include "boundary/translate_exceptions.hpp"
#include "fortran_text.hpp"

// This function of gfortran's run-time library flushes a Fortran unit; it is NULL if the program does not contain the
// library. Fortran's unit 6, the standard output, has its own buffer, which must be flushed before C writes to the same
// output.
extern "C" __attribute__((weak)) void _gfortran_flush_i4(const int *unit);

namespace cudaopt::drop_in {

namespace {

// Prints the text that make() returns. If memory is exhausted, nothing is printed; the task of setulb still reports the
// error.
template <class Make> void print(const Make &make) noexcept {
    const auto write = [&] {
        const std::string text = make();
        constexpr int standard_output = 6;
        if (_gfortran_flush_i4) _gfortran_flush_i4(&standard_output);
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
        return 0;
    };
    translate_exceptions(write, [](int code, const char *) { return code; });
}

// Formats a vector with its name, six elements per line.
std::string vector(const char *name, const double *values, int n) {
    std::string text = '\n' + std::string(name);
    for (int i = 0; i < n; i++) {
        if (i > 0 && i % 6 == 0) text += "\n    ";
        text += ' ' + scientific(11, 4, values[i]);
    }
    return text + '\n';
}

std::string iterate(const Call &call) {
    return "\nAt iterate" + integer(5, call[iteration]) + "    f= " + scientific(12, 5, *call.f) +
           "    |proj g|= " + scientific(12, 5, call[projected_gradient]) + '\n';
}

std::string closing_words(const Call &call) { return '\n' + std::string(call.task, text_length) + '\n'; }

} // namespace

void report_input(const Call &call) {
    if (call.iprint < 0) return;
    print([&] {
        std::string text =
            "RUNNING THE L-BFGS-B CODE\n\n           * * *\n\nMachine precision =" + scientific(10, 3, call[epsilon]) +
            "\n N = " + listed(call.n) + "     M = " + listed(call.m) + '\n';
        if (call.iprint > 100)
            text += vector(" L =", call.l, call.n) + vector("X0 =", call.x, call.n) + vector(" U =", call.u, call.n);
        return text;
    });
}

void report_start(const Call &call, int variables_at_bounds) {
    if (call.iprint < 0) return;
    print([&] {
        std::string text;
        if (call[projected]) text += " The initial X is infeasible.  Restart with its projection.\n";
        if (!call[constrained]) text += " This problem is unconstrained.\n";
        if (call.iprint > 0)
            text += "\nAt X0 " + integer(9, variables_at_bounds) + " variables are exactly at the bounds\n";
        return text;
    });
}

void report_first_point(const Call &call) {
    if (call.iprint >= 1) print([&] { return iterate(call); });
}

void report_iteration(const Call &call) {
    if (call.iprint >= 99) print([&] { return "\n\nITERATION " + integer(5, 1LL + call[iteration]) + '\n'; });
}

void report_new_x(const Call &call) {
    if (call.iprint >= 99)
        print([&] {
            std::string text = " LINE SEARCH" + listed(call[backtracks]) +
                               "  times; norm of step = " + listed(call[step] * call[direction_norm]) + '\n' +
                               iterate(call);
            if (call.iprint > 100) text += vector(" X =", call.x, call.n) + vector(" G =", call.g, call.n);
            return text;
        });
    else if (call.iprint > 0 && call[iteration] % call.iprint == 0) print([&] { return iterate(call); });
}

void report_skipped_update(const Call &call) {
    if (call.iprint < 1) return;
    print([&] {
        return "  ys=" + scientific(10, 3, (call[slope] - call[slope_start]) * call[step], 'E') +
               "  -gs=" + scientific(10, 3, -call[slope_start] * call[step], 'E') + " BFGS update SKIPPED\n";
    });
}

void report_end(const Call &call) {
    if (call.iprint < 0) return;
    print([&] {
        std::string text = "\n           * * *\n\n"
                           "Tit   = total number of iterations\n"
                           "Tnf   = total number of function evaluations\n"
                           "Tnint = total number of segments explored during Cauchy searches\n"
                           "Skip  = number of BFGS updates skipped\n"
                           "Nact  = number of active bounds at final generalized Cauchy point\n"
                           "Projg = norm of the final projected gradient\n"
                           "F     = final function value\n\n           * * *\n\n"
                           "   N    Tit     Tnf  Tnint  Skip  Nact     Projg        F\n";
        text += integer(5, call.n);
        for (const Count k : {iteration, evaluations, all_segments}) text += ' ' + integer(6, call[k]);
        text += "  " + integer(4, call[skipped_updates]) + ' ' + integer(5, call[active_constraints]);
        text += "  " + scientific(10, 3, call[projected_gradient]) + "  " + scientific(10, 3, *call.f) + '\n';
        if (call.iprint >= 100) text += vector(" X =", call.x, call.n);
        if (call.iprint >= 1) text += "  F =" + listed(*call.f) + '\n';
        return text + closing_words(call);
    });
}

void report_error(const Call &call, int index) {
    if (call.iprint < 0) return;
    print([&] {
        std::string text = closing_words(call);
        const std::string place = '(' + listed(index) + " )";
        if (index > 0)
            text += call.task_begins("ERROR: INVALID NBD")
                        ? "  Input nbd" + place + " is invalid.\n"
                        : "  l" + place + " > u" + place + ".  No feasible solution.\n";
        return text;
    });
}

} // namespace cudaopt::drop_in
