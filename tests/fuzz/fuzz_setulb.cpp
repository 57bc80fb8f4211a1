// Tests libcuda_opt_setulb on the host backend. Several random problems are solved at the same time, and their arrays
// are moved, copied, restored and corrupted at random times. Problems without corrupted arrays satisfy the
// documentation; the others end or continue without a crash.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>

#include "cuda_opt_setulb.h"
#include "functions.hpp"
#include "harness.hpp"
#include "hash.hpp"

namespace fuzz {

namespace {

constexpr int most_n = 40, most_m = 20;
constexpr std::size_t text_length = 60;

const char *const endings[] = {"CONVERGENCE: NORM_OF_PROJECTED_GRADIENT_<=_PGTOL",
                               "CONVERGENCE: REL_REDUCTION_OF_F_<=_FACTR*EPSMCH",
                               "ABNORMAL_TERMINATION_IN_LNSRCH",
                               "ERROR: N .LE. 0",
                               "ERROR: M .LE. 0",
                               "ERROR: FACTR .LT. 0",
                               "ERROR: INVALID NBD",
                               "ERROR: NO FEASIBLE SOLUTION",
                               "ERROR: X IS NOT FINITE",
                               "ERROR: A BOUND IS NAN",
                               "ERROR: NO START BEFORE THIS TASK"};

// The arrays of one problem. No array is longer than necessary.
struct Arrays {
    int n, m, iprint = -1;
    double f = 0, factr = 0, pgtol = 0;
    std::vector<double> x, l, u, g, wa, dsave;
    std::vector<int> nbd, iwa, lsave, isave;
    std::vector<char> task, csave;

    Arrays(int n_asked, int m_asked)
        : n(n_asked), m(m_asked), x(at(n)), l(at(n)), u(at(n)), g(at(n)),
          wa(at(2 * m * n + 5 * n + 11 * m * m + 8 * m)), dsave(29), nbd(at(n)), iwa(at(3 * n)), lsave(4), isave(44),
          task(text_length, ' '), csave(text_length, ' ') {}
    void set_task(const char *words) {
        std::fill(task.begin(), task.end(), ' ');
        std::copy(words, words + std::min(std::strlen(words), text_length), task.begin());
    }
    bool says(const char *start) const { return std::strncmp(task.data(), start, std::strlen(start)) == 0; }
    std::string words() const {
        const std::string all(task.begin(), task.end());
        return all.substr(0, all.find_last_not_of(' ') + 1);
    }
    double lower(int i) const { return nbd[at(i)] == 1 || nbd[at(i)] == 2 ? l[at(i)] : -infinity; }
    double upper(int i) const { return nbd[at(i)] >= 2 ? u[at(i)] : infinity; }
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
};

class Problem {
  public:
    explicit Problem(Run &run) : run_(run), random_(run.random), function_(random_, 1) { start_anew(); }

    // Makes one call according to the protocol and does what it requests.
    void step() {
        Arrays &a = *arrays_;
        const bool stopping = a.says("STOP"), asking = a.says("FG");
        const std::string asked = a.words();
        call();
        run_.trace("%s -> %s, x[0] = %.17g, f = %.17g", asked.c_str(), a.words().c_str(), a.x[0], a.f);
        check_task(stopping);
        // An unexpected task, such as a return code, also begins a new solve.
        if (!asking && a.says("FG_START")) begin_record();
        if (a.says("FG")) evaluate();
        else if (a.says("NEW_X")) check_triple(), record_.lowest = std::min(record_.lowest, a.f);
        else check_end(stopping);
    }
    // Makes changes that a caller is allowed to make. They must not affect the solve, except that a copy starts with an
    // empty history.
    void move() {
        run_.trace("moved");
        auto moved = std::make_unique<Arrays>(*arrays_);
        arrays_ = std::move(moved);
    }
    void keep_copy() { copy_ = std::make_unique<Kept>(Kept{*arrays_, function_, record_, sound_}); }
    void put_back_copy() {
        if (!copy_) return;
        run_.trace("put back");
        arrays_ = std::make_unique<Arrays>(copy_->arrays);
        record_ = copy_->record;
        sound_ = copy_->sound && function_.honest();
    }
    // Makes changes that a caller is not allowed to make.
    void spoil(const Problem &other) {
        Arrays &a = *arrays_;
        sound_ = false;
        const auto kind = random_.below(13);
        run_.trace("spoilt: %d", static_cast<int>(kind));
        const auto entry = [&](const auto &values) {
            return static_cast<std::size_t>(random_.below(static_cast<int64_t>(values.size())));
        };
        switch (kind) {
        case 0: // entries that the library uses, or any entries
            a.isave[random_.pick<std::size_t>({21, 24, 25, 27, 29, 30, 33, 35, entry(a.isave)})] =
                random_.chance(0.5) ? INT32_MAX : static_cast<int>(random_.hostile_integer());
            break;
        case 1: a.dsave[entry(a.dsave)] = random_.hostile(); break;
        case 2: a.lsave[entry(a.lsave)] = static_cast<int>(random_.hostile_integer()); break;
        case 3: a.csave[entry(a.csave)] = static_cast<char>(random_.below(256)); break;
        case 4: a.task[entry(a.task)] = static_cast<char>(random_.below(256)); break;
        case 5: a.wa[entry(a.wa)] = random_.hostile(); break;
        case 6: a.n = static_cast<int>(random_.pick<int64_t>({0, -1, INT32_MIN, 1, a.n > 1 ? a.n - 1 : 1, a.n})); break;
        case 7: a.m = static_cast<int>(random_.pick<int64_t>({0, -1, INT32_MIN, 1, a.m > 1 ? a.m - 1 : 1, a.m})); break;
        case 8: // the identifier of another problem
            std::copy(other.arrays_->isave.begin() + 16, other.arrays_->isave.begin() + 19, a.isave.begin() + 16);
            break;
        case 9:
            for (int &value : a.isave) value = static_cast<int>(random_.hostile_integer());
            break;
        case 11: a.f = random_.chance(0.5) ? random_.hostile() : a.f - 1; break;
        case 10: (random_.chance(0.5) ? a.x : a.g)[entry(a.x)] = random_.hostile(); break;
        default:
            a.set_task(random_.pick({"FG_START", "FG_LNSRCH", "NEW_X", "RESTART", "", "STOP: CPU", "STOP",
                                     "CONVERGENCE", "START", "FG_ST", "NEW_XYZ", "ABNORMAL_TERMINATION_IN_LNSRCH"}));
        }
    }
    // Abandons the problem, with or without a release, and begins another problem in the same arrays.
    void start_anew() {
        const auto n = static_cast<int>(random_.from_to(1, most_n)), m = static_cast<int>(random_.from_to(1, most_m));
        // otherwise the size is the same as before
        if (!arrays_ || random_.chance(0.5)) arrays_ = std::make_unique<Arrays>(n, m);
        Arrays &a = *arrays_;
        a.n = static_cast<int>(a.x.size());
        function_ = Function(random_, a.n);
        a.iprint = static_cast<int>(random_.pick<int64_t>({-1, -1, -1, 0, 1, 99, 100, 101, INT32_MAX, INT32_MIN}));
        a.factr = random_.chance(0.8) ? random_.pick({0.0, 1e7, 10.0}) : random_.hostile();
        a.pgtol = random_.chance(0.8) ? random_.pick({0.0, 1e-5, 1e-12}) : random_.hostile();
        const Box box(random_, a.n, 1e300);
        const std::vector<double> start = function_.start(random_);
        for (int i = 0; i < a.n; i++) {
            const std::size_t at = Arrays::at(i);
            const double l = box.lower.empty() ? -infinity : box.lower[at];
            const double u = box.upper.empty() ? infinity : box.upper[at];
            a.x[at] = start[at];
            a.l[at] = l == -infinity ? random_.hostile() : l;
            a.u[at] = u == infinity ? random_.hostile() : u;
            a.nbd[at] = (l != -infinity ? 1 : 0) + (u != infinity ? 2 : 0);
            if (a.nbd[at] == 3) a.nbd[at] = 2;
            else if (a.nbd[at] == 2) a.nbd[at] = 3;
        }
        if (random_.chance(0.05)) std::fill(a.nbd.begin(), a.nbd.end(), 2); // including infinite bounds
        if (random_.chance(0.02)) a.nbd[0] = static_cast<int>(random_.hostile_integer());
        a.set_task("START");
        if (random_.chance(0.2)) a.task[5] = '\0';
        sound_ = true;
        record_ = {};
        copy_.reset();
        run_.trace("n = %d, m = %d, factr %g, pgtol %g, %s, %s", a.n, a.m, a.factr, a.pgtol, function_.words().c_str(),
                   box.words);
    }
    void release() const { cuda_opt_setulb_release(arrays_->isave.data()); }
    void stop() { arrays_->set_task(random_.chance(0.5) ? "STOP: CPU" : "STOP"); }

  private:
    struct Record {
        std::set<uint64_t> points; // points evaluated since START
        bool finite_start = false;
        double lowest = infinity; // lowest f of the iterates
    };
    struct Kept {
        Arrays arrays;
        Function function;
        Record record;
        bool sound;
    };

    void call() {
        Arrays &a = *arrays_;
        run_.call("setulb_", [&] {
            setulb_(&a.n, &a.m, a.x.data(), a.l.data(), a.u.data(), a.nbd.data(), &a.f, a.g.data(), &a.factr, &a.pgtol,
                    a.wa.data(), a.iwa.data(), a.task.data(), &a.iprint, a.csave.data(), a.lsave.data(), a.isave.data(),
                    a.dsave.data(), text_length, text_length);
        });
    }

    void check_task(bool stopping) {
        const Arrays &a = *arrays_;
        if (stopping || a.says("FG_START") || a.says("FG_LNSRCH") || a.says("NEW_X")) return;
        const std::string words = a.words();
        if (std::find(std::begin(endings), std::end(endings), words) == std::end(endings))
            run_.fault("unknown_task", "'%s'", words.c_str());
    }

    void begin_record() { record_ = {}; }

    uint64_t point() const { return hash_of(arrays_->x.data(), arrays_->f, arrays_->g.data(), Arrays::at(arrays_->n)); }

    void evaluate() {
        Arrays &a = *arrays_;
        run_.require(a.n > 0, "evaluation_of_nothing", "n is not positive");
        std::vector<double> x(a.x.begin(), a.x.begin() + a.n), g(x.size());
        if (sound_)
            for (int i = 0; i < a.n; i++)
                if (!std::isfinite(x[Arrays::at(i)]) ||
                    !(x[Arrays::at(i)] >= a.lower(i) && x[Arrays::at(i)] <= a.upper(i)))
                    run_.fault("x_outside", "x[%d] = %.17g, bounds %.17g, %.17g; %s", i, x[Arrays::at(i)], a.lower(i),
                               a.upper(i), function_.words().c_str());
        x.resize(static_cast<std::size_t>(function_.size()));
        g.resize(x.size());
        a.f = function_.evaluate(x.data(), g.data());
        std::copy(g.begin(), g.begin() + std::min<std::ptrdiff_t>(a.n, static_cast<std::ptrdiff_t>(g.size())),
                  a.g.begin());
        if (record_.points.empty())
            record_.finite_start = std::isfinite(a.f) && std::all_of(a.g.begin(), a.g.begin() + a.n,
                                                                     [](double v) { return std::isfinite(v); });
        record_.points.insert(point());
    }

    void check_triple() {
        if (!sound_ || record_.points.empty()) return;
        if (record_.points.count(point()) == 0)
            run_.fault("not_a_triple", "%s: x, f and g are not those of an evaluation; %s", arrays_->words().c_str(),
                       function_.words().c_str());
        if (arrays_->isave[33] < 0 || arrays_->isave[29] < 0) run_.fault("negative_count", "isave");
    }

    void check_end(bool stopping) {
        const Arrays &a = *arrays_;
        if (!sound_ || stopping || a.says("ERROR")) return;
        check_triple();
        if (!record_.finite_start) return;
        if (a.f > record_.lowest)
            run_.fault("not_the_best", "f = %.17g, but an iterate had %.17g", a.f, record_.lowest);
        if (!a.says("CONVERGENCE: NORM")) return;
        double largest = 0;
        for (int i = 0; i < a.n; i++) {
            const double x = a.x[Arrays::at(i)], g = a.g[Arrays::at(i)];
            const double to_bound = g < 0 ? x - a.upper(i) : x - a.lower(i);
            largest = std::max(largest, std::fabs(g < 0 ? std::max(to_bound, g) : std::min(to_bound, g)));
        }
        if (!(largest <= (a.pgtol > 0 ? a.pgtol : 0) * (1 + 1e-9)))
            run_.fault("pgtol_untrue", "%g against %g", largest, a.pgtol);
    }

    Run &run_;
    Random &random_;
    std::unique_ptr<Arrays> arrays_;
    std::unique_ptr<Kept> copy_;
    Function function_;
    Record record_;
    bool sound_ = true;
};

void episode(Run &run) {
    Random &random = run.random;
    std::vector<std::unique_ptr<Problem>> problems;
    for (int64_t k = random.from_to(1, 4); k > 0; k--) problems.push_back(std::make_unique<Problem>(run));
    const bool rough = random.chance(0.5); // whether arrays are corrupted
    const auto any = [&]() -> Problem & {
        return *problems[static_cast<std::size_t>(random.below(static_cast<int64_t>(problems.size())))];
    };
    for (int64_t steps = random.from_to(20, 300); steps > 0; steps--) {
        Problem &problem = any();
        const double chance = random.uniform();
        if (chance < 0.05) problem.move();
        else if (chance < 0.06) problem.keep_copy();
        else if (chance < 0.07) problem.put_back_copy();
        else if (chance < 0.075) problem.release();
        else if (chance < 0.08) problem.start_anew();
        else if (chance < 0.083) problem.stop();
        else if (rough && chance < 0.12) problem.spoil(any());
        problem.step();
    }
    if (random.chance(0.5)) run.call("cuda_opt_setulb_release", [] { cuda_opt_setulb_release(nullptr); });
    double seconds = -1;
    timer_(&seconds);
    run.require(seconds >= 0, "timer", "the time is negative");
}

} // namespace

} // namespace fuzz

int main(int count, char **arguments) {
    setenv("CUDA_OPT_BACKEND", "host", 1);
    setenv("CUDA_OPT_SETULB_KEEP", "3", 1); // so that problems are removed
    return fuzz::run_episodes(count, arguments, {{"setulb", 1, fuzz::episode}});
}
