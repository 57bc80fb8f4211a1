#include "failing.hpp"

#include "cuda_opt.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

// The functions of glibc that malloc and the others call.
extern "C" {
void *__libc_malloc(std::size_t size);
void *__libc_calloc(std::size_t count, std::size_t size);
void *__libc_realloc(void *memory, std::size_t size);
void *__libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void *memory);
}

namespace failing {

namespace {

struct Plan {
    std::atomic<int64_t> left{0}; // number of calls before the one that fails
    std::atomic<bool> armed{false}, lasting{false};

    void start(int64_t number, Mode mode) {
        left = number;
        lasting = mode == Mode::from_then_on;
        armed = true;
    }
    bool fails_now() {
        if (!armed) return false;
        const int64_t before = left--;
        return before == 0 || (before < 0 && lasting);
    }
};
Plan allocations, threads;
std::atomic<bool> something_failed{false}, watching{false};

// A hash table of the blocks that were allocated while `watching` was set. The standard containers cannot be used,
// because they allocate memory.
constexpr std::size_t places = 1 << 16;
void *blocks[places];
std::atomic_flag lock = ATOMIC_FLAG_INIT;

std::size_t place_of(const void *block) {
    return (reinterpret_cast<uintptr_t>(block) >> 4) * 0x9e3779b97f4a7c15u >> 48;
}

// The table uses linear probing. The entry of a freed block is marked as deleted, so that look-ups continue beyond it.
// The next block can use this entry.
char gone;

void note(void *block) {
    if (!block || !watching) return;
    while (lock.test_and_set(std::memory_order_acquire)) {
    }
    std::size_t at = place_of(block);
    while (blocks[at] && blocks[at] != &gone) at = (at + 1) % places;
    blocks[at] = block;
    lock.clear(std::memory_order_release);
}

void forget(const void *block) {
    if (!block) return;
    while (lock.test_and_set(std::memory_order_acquire)) {
    }
    for (std::size_t at = place_of(block); blocks[at]; at = (at + 1) % places)
        if (blocks[at] == block) {
            blocks[at] = &gone;
            break;
        }
    lock.clear(std::memory_order_release);
}

bool fails(Plan &plan) {
    if (!plan.fails_now()) return false;
    something_failed = true;
    return true;
}

template <class Allocate> void *allocate(const Allocate &allocate) {
    if (fails(allocations)) {
        errno = ENOMEM;
        return nullptr;
    }
    void *const block = allocate();
    note(block);
    return block;
}

using Create = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
Create real_create() {
    static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    return create;
}

} // namespace

void arm(int64_t number, Mode mode) {
    watching = true;
    real_create();
    allocations.start(number, mode);
}

void arm_threads(int64_t number, Mode mode) {
    real_create(); // must be looked up before anything fails
    threads.start(number, mode);
}

void calm() { allocations.armed = threads.armed = watching = false; }

bool failed() { return something_failed; }

int64_t left_over() {
    int64_t count = 0;
    for (const void *const block : blocks) count += block && block != &gone;
    return count;
}

} // namespace failing

extern "C" {
void *malloc(std::size_t size) {
    return failing::allocate([&] { return __libc_malloc(size); });
}
void *calloc(std::size_t number, std::size_t size) {
    return failing::allocate([&] { return __libc_calloc(number, size); });
}
void *realloc(void *memory, std::size_t size) {
    return failing::allocate([&] {
        failing::forget(memory);
        return __libc_realloc(memory, size);
    });
}
void *aligned_alloc(std::size_t alignment, std::size_t size) {
    return failing::allocate([&] { return __libc_memalign(alignment, size); });
}
void *memalign(std::size_t alignment, std::size_t size) {
    return failing::allocate([&] { return __libc_memalign(alignment, size); });
}
int posix_memalign(void **out, std::size_t alignment, std::size_t size) {
    *out = failing::allocate([&] { return __libc_memalign(alignment, size); });
    return *out ? 0 : ENOMEM;
}
void free(void *memory) {
    failing::forget(memory);
    __libc_free(memory);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    return failing::fails(failing::threads) ? EAGAIN : failing::real_create()(thread, attributes, start, argument);
}
}

namespace failing {

namespace {

constexpr int64_t most_allocations = 5000; // a body that needs more is assumed to allocate without end
constexpr unsigned most_seconds = 60;      // a body takes milliseconds

struct Reply {
    bool whole = false, failed = false; // whether the child completed the body, and whether a call failed in it
    char complaint[400] = "";
};

Reply reply_of_child(const Body &body, int64_t number, Mode mode, int *status) {
    int ends[2];
    if (pipe(ends) != 0) return {};
    // If the library contains the CUDA runtime, the runtime allocates memory in its first call and keeps it. This call
    // is made here, so that this memory is not counted as a leak and its allocations do not fail.
    static const bool asked = [] {
        cuda_opt *s = nullptr;
        const double bound = 0;
        cuda_opt_create(&s, 1, 1, CUDA_OPT_BACKEND_AUTO);
        cuda_opt_destroy(&s);
        cuda_opt_create(&s, 1, 1, CUDA_OPT_BACKEND_HOST);
        cuda_opt_set_bounds(s, &bound, nullptr);
        cuda_opt_destroy(&s);
        return true;
    }();
    static_cast<void>(asked);
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY); // for the log of the library and the last output of a runtime
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        for (const int fatal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM})
            signal(fatal, SIG_DFL); // removes the handlers of Catch2
        alarm(most_seconds);
        Reply answer;
        std::string complaint;
        try {
            complaint = body(number, mode);
        } catch (...) {
            calm();
            complaint = "the library has thrown an exception";
        }
        std::strncpy(answer.complaint, complaint.c_str(), sizeof answer.complaint - 1);
        answer.whole = true;
        answer.failed = failed();
        _exit(write(ends[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
    }
    close(ends[1]);
    Reply answer;
    if (child < 0 || read(ends[0], &answer, sizeof answer) != sizeof answer) answer = {};
    close(ends[0]);
    waitpid(child, status, 0);
    return answer;
}

std::string how_it_ended(int status) {
    if (WIFSIGNALED(status)) return std::string("the process was ended by the signal ") + strsignal(WTERMSIG(status));
    return "the process has exited with status " + std::to_string(WEXITSTATUS(status));
}

// The faults that were found, with the numbers of the failed allocations. Consecutive numbers with the same fault share
// a line.
class Complaints {
  public:
    void add(Mode mode, int64_t number, const std::string &complaint) {
        if (mode == mode_ && complaint == last_ && number == to_ + 1) {
            to_ = number;
            return;
        }
        close();
        mode_ = mode;
        last_ = complaint;
        from_ = to_ = number;
    }
    std::string all() {
        close();
        return lines_;
    }

  private:
    void close() {
        if (!last_.empty())
            lines_ += "allocation " + std::to_string(from_) + (to_ > from_ ? " to " + std::to_string(to_) : "") +
                      (mode_ == Mode::once ? ", once: " : " and all after it: ") + last_ + "\n";
        last_.clear();
    }
    Mode mode_ = Mode::once;
    int64_t from_ = 0, to_ = 0;
    std::string last_, lines_;
};

} // namespace

std::string each_in_turn(const Body &body, bool may_need_nothing) {
    Complaints complaints;
    for (const Mode mode : {Mode::once, Mode::from_then_on})
        for (int64_t number = 0;; number++) {
            int status = 0;
            const Reply answer = reply_of_child(body, number, mode, &status);
            complaints.add(mode, number, answer.whole ? answer.complaint : how_it_ended(status));
            if (number == most_allocations) complaints.add(mode, number + 1, "the body allocates without end");
            if ((answer.whole && !answer.failed) || number == most_allocations) {
                if (number == 0 && !may_need_nothing) complaints.add(mode, 0, "the body has allocated nothing");
                break;
            }
        }
    return complaints.all();
}

} // namespace failing
