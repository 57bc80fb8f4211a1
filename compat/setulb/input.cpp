#include "input.hpp"

#include <cmath>
#include <limits>

#include "report.hpp"

namespace cudaopt::drop_in {

namespace {

// Checks variable i for input that L-BFGS-B 3.0 accepts although it cannot lead to a solution. Returns an error
// message, or NULL if the input is valid.
const char *hopeless(const Call &call, int i) {
    const double l = call.lower(i), u = call.upper(i);
    if (std::isnan(l) || std::isnan(u)) return "ERROR: A BOUND IS NAN";
    if (l == infinity || u == -infinity) return "ERROR: NO FEASIBLE SOLUTION";
    const double x = std::fmin(std::fmax(call.x[i], l), u);
    return std::isnan(call.x[i]) || std::isinf(x) ? "ERROR: X IS NOT FINITE" : nullptr;
}

} // namespace

bool is_refused(const Call &call) {
    // If several arguments are invalid, L-BFGS-B 3.0 reports the last of them, and so does this function.
    const char *words = nullptr;
    int index = 0; // The index of the invalid element, counted from 1.
    // A workspace cannot be larger than this limit, which prevents overflow in the computation of its size.
    if (call.n > 0 && call.m > 0 && 5.0 * call.n + (2.0 * call.n + 11.0 * call.m + 8) * call.m > 1e18)
        words = "ERROR: OUT OF MEMORY";
    if (call.n <= 0) words = "ERROR: N .LE. 0";
    if (call.m <= 0) words = "ERROR: M .LE. 0";
    if (call.factr < 0) words = "ERROR: FACTR .LT. 0";
    for (int i = 0; i < call.n; i++) {
        if (call.nbd[i] < 0 || call.nbd[i] > 3) words = "ERROR: INVALID NBD", index = i + 1;
        else if (call.nbd[i] == 2 && call.l[i] > call.u[i]) words = "ERROR: NO FEASIBLE SOLUTION", index = i + 1;
    }
    for (int i = 0; i < call.n && !words; i++) words = hopeless(call, i);
    if (!words) return false;
    call.set_task(words);
    report_error(call, index);
    return true;
}

int move_into_box(const Call &call) {
    int at_bounds = 0;
    call[projected] = call[constrained] = 0;
    call[boxed] = 1;
    for (int i = 0; i < call.n; i++) {
        const int kind = call.nbd[i];
        double &x = call.x[i];
        if (kind != 0) call[constrained] = 1;
        if (kind != 2) call[boxed] = 0;
        const double l = call.lower(i), u = call.upper(i);
        if (!(x <= l) && !(x >= u)) continue; // also if x is NaN
        at_bounds++;
        const double bound = x <= l ? l : u;
        if (x != bound) call[projected] = 1;
        x = bound;
    }
    return at_bounds;
}

void prepare_entries(const Call &call) {
    std::fill(call.isave, call.isave + 44, 0);
    std::fill(call.dsave, call.dsave + 29, 0.0);
    call[updated] = 0;
    Call::set_text(call.csave, "");

    const int64_t n = call.n, m = call.m;
    // The entries 1 to 16 of isave describe how L-BFGS-B 3.0 divides the workspace wa. The first three entries are the
    // products mn, m^2 and 4 m^2. The others are the indices at which the arrays in wa begin: ws and wy (mn elements
    // each), sy, ss and wt (m^2 each), wn and snd (4 m^2 each), and z, r, d, t and xp (n each). The last entry is the
    // index of the first element after these arrays.
    const int64_t part[] = {m * n, m * m, 4 * m * m};
    const int64_t sizes[] = {part[0], part[0], part[1], part[1], part[1], part[2], part[2], n, n, n, n, n};
    std::copy(part, part + 3, call.isave);
    int64_t begin = 1;
    int *entry = call.isave + 3;
    *entry++ = static_cast<int>(begin);
    for (const int64_t size : sizes) *entry++ = static_cast<int>(begin += size);

    // In L-BFGS-B 3.0 this entry is the unit number of the file iterate.dat. This library does not write that file.
    call[log_unit] = 8;
    call[oldest_pair] = 1;
    call[free_variables] = call.n;
    call[theta] = 1;
    call[epsilon] = std::numeric_limits<double>::epsilon();
    call[f_tolerance] = call.factr * call[epsilon];
}

} // namespace cudaopt::drop_in
