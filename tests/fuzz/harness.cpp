#include "harness.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <map>
#include <sys/time.h>
#include <unistd.h>

#include "../support/seed.hpp"

// If sanitizers are used, they end the program with a signal, so that the last line names the episode. Requests for too
// much memory return NULL, as without sanitizers.
extern "C" __attribute__((visibility("default"))) const char *__asan_default_options() {
    return "abort_on_error=1:allocator_may_return_null=1:detect_stack_use_after_return=1";
}
extern "C" __attribute__((visibility("default"))) const char *__ubsan_default_options() {
    return "abort_on_error=1:print_stacktrace=1";
}

namespace fuzz {

namespace {

constexpr int most_shown_of_a_kind = 5;
constexpr int ticks_a_second = 10;
// Limits per call. Calls take milliseconds, but up to 50 times as long on an emulated processor.
constexpr double seconds_of_processor = 10;
constexpr int seconds_of_clock = 60; // if other processes use the processors

// The descriptor of the output of the fuzzer. The library may print to standard output, which is discarded.
int lines = STDOUT_FILENO;
bool tracing = false;
std::map<std::string, int64_t> faults;

struct {
    const char *volatile name;
    volatile uint64_t seed;
    volatile int64_t step, calls; // calls: the number of calls in earlier episodes
    volatile bool inside;
} now;

double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Is called in signal handlers, where the state of the process is unknown, so it formats into its own buffer and calls
// write().
void last_words(const char *what) {
    char line[256];
    const int length = std::snprintf(line, sizeof line, "FAULT %s seed=%llu step=%lld in %s\n%lld calls, and no more\n",
                                     what, static_cast<unsigned long long>(now.seed), static_cast<long long>(now.step),
                                     now.name, static_cast<long long>(now.calls + now.step));
    if (write(lines, line, static_cast<std::size_t>(length)) < 0) _exit(4);
}

void tick(int) {
    static int64_t step_seen = -1;
    static uint64_t seed_seen = 0;
    static int ticks = 0;
    static double begun = 0;
    if (!now.inside || now.step != step_seen || now.seed != seed_seen) {
        step_seen = now.step;
        seed_seen = now.seed;
        ticks = 0;
        begun = processor_seconds();
        return;
    }
    ticks++;
    const bool busy = ticks >= ticks_a_second && processor_seconds() - begun >= seconds_of_processor;
    if (!busy && ticks < seconds_of_clock * ticks_a_second) return;
    last_words(busy ? "hang" : "deadlock");
    _exit(3);
}

void crashed(int number) {
    last_words("crash");
    signal(number, SIG_DFL);
    raise(number);
}

void watch() {
    struct sigaction action {};
    action.sa_handler = tick;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    const itimerval every{{0, 1000000 / ticks_a_second}, {0, 1000000 / ticks_a_second}};
    setitimer(ITIMER_REAL, &every, nullptr);
    for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
        struct sigaction standing {};
        sigaction(number, nullptr, &standing);
        // otherwise it is the handler of a sanitizer, which aborts
        if (standing.sa_handler == SIG_DFL) signal(number, crashed);
    }
}

void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vdprintf(lines, format, arguments);
    va_end(arguments);
}

std::string formatted(const char *format, va_list arguments) {
    char text[1024];
    std::vsnprintf(text, sizeof text, format, arguments);
    return text;
}

struct Options {
    uint64_t seed = cudaopt_test::seed(1);
    int64_t calls = INT64_MAX;
    double seconds = 5;
    std::string kind; // empty: all kinds
    bool good = true;

    Options(int count, char **arguments) {
        bool until = false; // whether a limit was given
        for (int i = 1; i < count; i++) {
            const char *value = i + 1 < count ? arguments[i + 1] : nullptr;
            if (std::strcmp(arguments[i], "--trace") == 0) {
                tracing = true;
                continue;
            }
            if (value && std::strcmp(arguments[i], "--seed") == 0) seed = std::strtoull(value, nullptr, 10);
            else if (value && std::strcmp(arguments[i], "--calls") == 0) calls = std::strtoll(value, nullptr, 10);
            else if (value && std::strcmp(arguments[i], "--seconds") == 0) seconds = std::strtod(value, nullptr);
            else if (value && std::strcmp(arguments[i], "--kind") == 0) kind = value;
            else good = false;
            if (value && std::strcmp(arguments[i], "--seconds") == 0) until = true;
            i++;
        }
        if (calls != INT64_MAX && !until) seconds = 1e300;
    }
};

} // namespace

Run::Watched::Watched(const char *name, uint64_t seed, int64_t step) {
    now.name = name;
    now.seed = seed;
    now.step = step;
    now.inside = true;
}

Run::Watched::~Watched() { now.inside = false; }

void Run::record(const std::string &kind, const char *text) const {
    if (faults[kind]++ < most_shown_of_a_kind)
        print("FAULT %s seed=%llu step=%lld: %s\n", kind.c_str(), static_cast<unsigned long long>(seed_),
              static_cast<long long>(step_), text);
}

void Run::fault(const std::string &kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    record(kind, formatted(format, arguments).c_str());
    va_end(arguments);
    throw EndOfEpisode{};
}

void Run::lesser_fault(const std::string &kind, const char *format, ...) const {
    va_list arguments;
    va_start(arguments, format);
    record(kind, formatted(format, arguments).c_str());
    va_end(arguments);
}

void Run::trace(const char *format, ...) const {
    if (!tracing) return;
    va_list arguments;
    va_start(arguments, format);
    print("%6lld  %s\n", static_cast<long long>(step_), formatted(format, arguments).c_str());
    va_end(arguments);
}

int run_episodes(int count, char **arguments, const std::vector<Kind> &kinds) {
    using Clock = std::chrono::steady_clock;
    const Options options(count, arguments);
    const auto named =
        std::find_if(kinds.begin(), kinds.end(), [&](const Kind &kind) { return options.kind == kind.name; });
    if (!options.good || (named == kinds.end() && !options.kind.empty())) {
        print("usage: %s [--seed S] [--calls N] [--seconds T] [--kind NAME] [--trace], NAME one of:", arguments[0]);
        for (const Kind &kind : kinds) print(" %s", kind.name);
        print("\n");
        return 2;
    }
    const auto draw = [&](Random &random) {
        double left = random.uniform();
        auto kind = kinds.begin();
        while (kind + 1 != kinds.end() && (left -= kind->share) >= 0) kind++;
        return kind;
    };
    lines = dup(STDOUT_FILENO);
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
    watch();

    const Clock::time_point begun = Clock::now();
    const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begun).count(); };
    int64_t episodes = 0;
    Run::Counts counts;
    volatile int64_t &calls = now.calls;
    while (calls < options.calls && seconds() < options.seconds) {
        Run run(options.seed + static_cast<uint64_t>(episodes++));
        try {
            (options.kind.empty() ? draw(run.random) : named)->episode(run);
        } catch (const EndOfEpisode &) {
        }
        calls = calls + run.steps();
        counts.inside += run.counts().inside, counts.ended += run.counts().ended;
        counts.damaged += run.counts().damaged;
    }
    int64_t found = 0;
    for (const auto &[kind, number] : faults) {
        print("%8lld  %s\n", static_cast<long long>(number), kind.c_str());
        found += number;
    }
    print("%lld calls in %lld episodes from seed %llu on, %.1f seconds, %lld faults\n", static_cast<long long>(calls),
          static_cast<long long>(episodes), static_cast<unsigned long long>(options.seed), seconds(),
          static_cast<long long>(found));
    print("%lld of the calls in solves that reached an evaluation, %lld solves ended, %lld checkpoints damaged\n",
          static_cast<long long>(counts.inside), static_cast<long long>(counts.ended),
          static_cast<long long>(counts.damaged));
    return found > 0 ? 1 : 0;
}

} // namespace fuzz
