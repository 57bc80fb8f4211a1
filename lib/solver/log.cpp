// Writes the log of the 2013 manual of L-BFGS for GPU-CUDA, line by line, through the caller's callback.
#include <algorithm>

#include "solver/solver.hpp"

namespace cudaopt {

namespace {
constexpr const char *rule = "*************************************************";
constexpr int per_line = 6;
} // namespace

// Passes a line to the caller's log callback. The callback may remove itself, make an invalid call or throw. In each
// case the message about the solve remains pending, so that it can still be formatted later.
void Solver::write_line(const char *line) {
    if (!log_write_) return;
    struct Writing {
        bool &flag, &pending;
        const bool was_pending;
        ~Writing() { flag = false, pending = pending || was_pending; }
    } const writing{writing_log_, message_pending_, message_pending_};
    writing_log_ = true;
    log_write_(log_user_, line);
}

void Solver::log_line(const char *pattern, ...) {
    char line[256];
    va_list arguments;
    va_start(arguments, pattern);
    format(line, sizeof line, pattern, arguments);
    va_end(arguments);
    write_line(line);
}

void Solver::log_vector(const char *name, const void *vector) {
    unscale_output();
    log_line(" VECTOR %s =", name);
    const int64_t n = own_dimension();
    double values[per_line];
    char line[per_line * 16 + 1];
    for (int64_t begin = 0; begin < n; begin += per_line) {
        const int count = static_cast<int>(std::min<int64_t>(per_line, n - begin));
        sweeps_->read(vector, begin, count, values);
        int length = 0;
        for (int i = 0; i < count; i++)
            length += format(line + length, sizeof line - static_cast<std::size_t>(length), "  %13.6e", values[i]);
        write_line(line);
    }
}

void Solver::log_start() {
    if (!log_write_) return;
    const Results &results = this->results();
    const Settings &settings = this->settings();
    log_line("%s", rule);
    log_line("  N = %lld   NUMBER OF CORRECTIONS = %d", shown(dimension()), memory());
    log_line("  INITIAL VALUES");
    log_line(" F = %e   GNORM = %e", results.f, results.pg_norm2);
    if (settings.log_type >= 1) {
        log_vector("X", arrays.x);
        log_vector("G", arrays.g);
    }
    log_line("%s", rule);
    log_line("%s", "");
    log_line("   I  NFN     FUNC          GNORM         STEPLENGTH");
}

void Solver::log_state() {
    if (log_write_ && settings().log_frequency >= 0 && settings().log_type >= 4)
        log_line(" STATE %s", name_of(state_->state()));
}

// Returns whether the current iteration is logged. As in VA15, a log frequency of k selects the iterations 1, k + 1,
// 2k + 1, ..., and k = 0 selects only the first. The last iteration is logged at the end of the solve.
bool Solver::row_is_due() const {
    const int64_t each = settings().log_frequency, before = results().iterations - 1;
    return each == 0 ? before == 0 : before % each == 0;
}

void Solver::log_row() {
    const Results &results = this->results();
    log_line("%4lld %4lld  %e  %e  %e", shown(results.iterations), shown(results.evaluations), results.f,
             results.pg_norm2, results.step);
}

void Solver::log_iterate() {
    if (!log_write_ || !row_is_due()) return;
    log_row();
    if (settings().log_type >= 2) log_vector("X", arrays.x);
    if (settings().log_type >= 3) log_vector("G", arrays.g);
}

void Solver::log_end() {
    if (!log_write_) return;
    Message sentence;
    describe(*state_, sentence);
    if (results().iterations > 0 && !row_is_due()) log_row(); // the starting point has no row in the table
    log_line("%s", "");
    if (results().stop_test) log_line(" THE MINIMIZATION TERMINATED WITHOUT DETECTING ERRORS.");
    log_line(" %s", sentence.text());
}

} // namespace cudaopt
