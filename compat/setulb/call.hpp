// The arguments of one call of setulb, which are arrays of the caller. Their entries have the names of the
// documentation of L-BFGS-B 3.0. These arrays are sufficient to continue a solve, but with an empty history. The
// library saves the correction pairs between calls, together with other data of the problem. A number in isave, the
// ticket, identifies the saved problem.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

namespace cudaopt::drop_in {

constexpr int text_length = 60;
constexpr double infinity = std::numeric_limits<double>::infinity();

// The entries of the array isave that contain counts. Indices count from 1, as in Fortran. L-BFGS-B 3.0 does not use
// entries 17 to 21.
enum Count {
    ticket_low = 17,
    ticket_high = 18,
    // The number of calls with this ticket. A smaller number than the library has saved shows that the caller restored
    // the arrays from a copy.
    stamp = 19,
    dimension = 20, // n
    mark = 21,      // set by a START
    all_segments = 22,
    log_unit = 24,
    backtracks = 25,
    skipped_updates = 26,
    oldest_pair = 27,
    pairs = 28,
    newest_pair = 29,
    iteration = 30,
    updates = 31, // The number of updates of the matrix since the history was last discarded.
    segments = 33,
    evaluations = 34,
    fault = 35,
    search_evaluations = 36,
    beyond_box = 37,
    free_variables = 38,
    active_constraints = 39,
    leaving = 40,
    entering = 41
};
enum Measure {
    theta = 1,
    f_base = 2,
    f_tolerance = 3,
    direction_norm = 4,
    epsilon = 5,
    seconds = 9,
    slope = 11,
    step_limit = 12,
    projected_gradient = 13,
    step = 14,
    slope_start = 15,
    direction_squared = 16,
    // The next entries of dsave are those that the line search of L-BFGS-B 3.0 uses internally.
    search_slope_start = 17,
    sufficient_slope = 18,
    search_f_start = 21
};
enum Flag { projected = 1, constrained = 2, boxed = 3, updated = 4 };

struct Call {
    int n, m;
    double *x;
    const double *l, *u;
    const int *nbd;
    double *f, *g;
    double factr, pgtol;
    double *wa;
    char *task;
    int iprint;
    char *csave;
    int *lsave, *isave;
    double *dsave;

    // The next functions return the bounds of variable i, which are infinite if it has none.
    double lower(int i) const { return nbd[i] == 1 || nbd[i] == 2 ? l[i] : -infinity; }
    double upper(int i) const { return nbd[i] >= 2 ? u[i] : infinity; }

    int &operator[](Count k) const { return isave[k - 1]; }
    // Adds a number to a count in isave. The sum is limited to the range of int, because the caller's array may contain
    // any value.
    void add(Count k, int64_t more) const { set(k, int64_t{(*this)[k]} + more); }
    void set(Count k, int64_t value) const {
        constexpr int64_t most = std::numeric_limits<int>::max();
        (*this)[k] = static_cast<int>(std::clamp(value, -most, most));
    }
    double &operator[](Measure k) const { return dsave[k - 1]; }
    int &operator[](Flag k) const { return lsave[k - 1]; }

    // Returns the address of the iterate at which the line search starts. This iterate is stored at the same place of
    // the workspace wa as in L-BFGS-B 3.0, because programs read it there.
    double *base_x() const { return wa + 2 * pairs_size() + 11 * square() + 3 * size(); }
    double *base_g() const { return wa + 2 * pairs_size() + 11 * square() + size(); }
    int64_t workspace() const { return 2 * pairs_size() + 5 * size() + 11 * square() + 8 * int64_t{m}; }
    void save_base() const {
        std::copy(x, x + n, base_x());
        std::copy(g, g + n, base_g());
        (*this)[f_base] = *f;
    }
    // Stores the newest correction pair at the same place of the workspace wa as L-BFGS-B 3.0, because programs read it
    // there.
    void save_pair() const {
        double *s = wa + int64_t{(*this)[newest_pair] - 1} * n, *y = s + pairs_size();
        for (int i = 0; i < n; i++) {
            s[i] = x[i] - base_x()[i];
            y[i] = g[i] - base_g()[i];
        }
    }
    void restore_base() const {
        std::copy(base_x(), base_x() + n, x);
        std::copy(base_g(), base_g() + n, g);
        *f = (*this)[f_base];
    }

    bool task_begins(const char *start) const { return std::strncmp(task, start, std::strlen(start)) == 0; }
    bool task_is_start() const { return task_begins("START") && (task[5] == ' ' || task[5] == '\0'); }
    void set_task(const char *words) const { set_text(task, words); }
    static void set_text(char *text, const char *words) {
        const auto length = std::min<std::size_t>(std::strlen(words), text_length);
        std::copy_n(words, length, text);
        std::memset(text + length, ' ', text_length - length);
    }

    int64_t ticket() const {
        return static_cast<int64_t>(static_cast<uint32_t>((*this)[ticket_high])) << 32 |
               static_cast<uint32_t>((*this)[ticket_low]);
    }
    void set_ticket(int64_t ticket) const {
        (*this)[ticket_low] = static_cast<int>(static_cast<uint32_t>(ticket));
        (*this)[ticket_high] = static_cast<int>(static_cast<uint32_t>(ticket >> 32));
    }

  private:
    int64_t size() const { return n; }
    int64_t pairs_size() const { return int64_t{n} * m; }
    int64_t square() const { return int64_t{m} * m; }
};

} // namespace cudaopt::drop_in
