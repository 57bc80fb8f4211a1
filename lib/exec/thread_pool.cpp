#include "exec/thread_pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "exec/team_size.hpp"
#include "boundary/per_thread.hpp"

// The loops use the threads of the OpenMP runtime of the calling program, if the program has one. The runtime
// must be GNU's or have the same entry points. There are two reasons to use these threads. First, OpenMP threads spin
// for milliseconds after a parallel evaluation of f and would compete with a thread pool of the library for the
// processors. Second, the library must not create further threads within a parallel loop of the program, for example
// over several solves. The library itself does not depend on OpenMP. It declares the functions of the runtime as weak
// symbols, which are NULL if the program has no OpenMP.
extern "C" {
__attribute__((weak)) void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
__attribute__((weak)) int omp_get_thread_num(void);
__attribute__((weak)) int omp_get_num_threads(void);
}

namespace cudaopt {

namespace {

const pid_t loaded_by = getpid();

// Returns whether the program has OpenMP. In a forked child it returns false, because the threads of the runtime exist
// only in the parent.
bool program_has_openmp() {
    return &GOMP_parallel && &omp_get_thread_num && &omp_get_num_threads && getpid() == loaded_by;
}

// Calls body(place) once for each 0 <= place < places, on up to `threads` OpenMP threads. The body must not throw.
template <class Body> void in_program_team(int threads, int places, const Body &body) {
    struct Call {
        const Body &body;
        int places;
        static void share(void *data) {
            const Call &call = *static_cast<const Call *>(data);
            for (int place = omp_get_thread_num(); place < call.places; place += omp_get_num_threads())
                call.body(place);
        }
    } call{body, places};
    GOMP_parallel(Call::share, &call, static_cast<unsigned>(threads), 0);
}

using Clock = std::chrono::steady_clock;

// A thread of the pool spins for this time before it sleeps. Waking a thread takes 50 to 100 microseconds, and the
// caller's work between two sweeps is often shorter. Threads that spun for longer would delay the threads of the
// caller's evaluation.
constexpr std::chrono::microseconds awake_time(100);

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

int processors() {
    cpu_set_t usable;
    const int count = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 0;
    return count > 0 ? count : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// A Gate lets one thread of the pool wait for work. The thread first spins and then sleeps on a condition variable.
class Gate {
  public:
    template <class Ready> void wait(const Ready &ready, bool awake) {
        const Clock::time_point until = awake ? Clock::now() + awake_time : Clock::time_point::min();
        do {
            for (int i = 0; i < 32; i++) {
                if (ready()) return;
                pause();
            }
        } while (awake && Clock::now() < until);
        // Thread cancellation is disabled while the thread sleeps. The other threads would wait forever for a thread
        // that was cancelled here.
        int state;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        {
            std::unique_lock lock(mutex_);
            // The flag asleep_ is set before the last check of ready(). The caller of open() makes ready() true before
            // open() reads the flag, so that no wake-up is lost.
            asleep_ = true;
            while (!ready()) opened_.wait(lock);
            asleep_ = false;
        }
        pthread_setcancelstate(state, nullptr);
    }
    // Wakes the waiting thread. The caller must first make the condition ready() of that thread true.
    void open() {
        if (!asleep_) return;
        const std::lock_guard lock(mutex_);
        opened_.notify_one();
    }

  private:
    std::mutex mutex_;
    std::condition_variable opened_;
    std::atomic<bool> asleep_{false};
};

// Work describes one parallel loop, which is divided into chunks.
struct Work {
    const int64_t count;
    const int chunks;
    const Chunk chunk;
    const void *const body;
    std::mutex failing;
    std::exception_ptr failure; // The last exception that a chunk has thrown.

    void run_chunk(int place) noexcept {
        const int64_t each = count / chunks, more = count % chunks;
        const int64_t first = each * place + std::min<int64_t>(place, more);
        try {
            chunk(body, first, first + each + (place < more), place);
        } catch (...) {
            const std::lock_guard lock(failing);
            failure = std::current_exception();
        }
    }
};

class ThreadPool {
  public:
    explicit ThreadPool(int size)
        : size_(size), awake_(size <= processors()),
          members_(new (std::nothrow) Member[static_cast<std::size_t>(size)]) {
        for (int place = 1; members_ && place < size_; place++) {
            members_[place].pool = this;
            // If a thread cannot be created, the pool works with fewer threads than requested.
            if (pthread_create(&members_[place].thread, nullptr, run, &members_[place]) != 0) break;
            made_ = place;
        }
    }
    ~ThreadPool() {
        // In a forked child, the threads of the pool do not exist and must not be joined.
        if (!here()) {
            static_cast<void>(members_.release());
            return;
        }
        closing_ = true;
        for (int place = 1; place <= made_; place++) {
            members_[place].gate.open();
            pthread_join(members_[place].thread, nullptr);
        }
    }
    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;

    // Returns whether this process created the threads. In a forked child it returns false.
    bool here() const { return process_ == getpid(); }
    bool busy() const { return busy_; }
    bool holds(int threads) const { return members_ && threads <= size_; }

    // Returns the measured run times of a loop, which is identified by its chunk function, its number of iterations
    // `count` and its maximum number of threads. The search for the fastest number of threads begins with `first`
    // threads. This number also identifies the loop, because it depends on the number of variables. Loops over
    // different numbers of variables may have the same `count`.
    TeamSize &size_for(Chunk chunk, int64_t count, int most, int first) {
        const auto kind = reinterpret_cast<std::uintptr_t>(chunk);
        Known &known = known_[(kind / 16 + static_cast<std::uintptr_t>(count + first)) % known_.size()];
        if (known.chunk != chunk || known.count != count || known.most != most || known.first != first) {
            known = {chunk, count, most, first, {}};
            known.size.begin(most, first);
        }
        return known.size;
    }

    void share(Work &work) {
        work_ = &work;
        unfinished_ = work.chunks;
        busy_ = true;
        for (int place = 0; place < work.chunks; place++) members_[place].offered = true;
        for (int place = 1; place < work.chunks; place++) members_[place].gate.open();
        serve(0);
        members_[0].gate.wait([this] { return unfinished_ == 0; }, awake_);
        busy_ = false;
    }

  private:
    // A Member represents one thread of the pool and its chunk of the current loop. The calling thread has position 0.
    struct alignas(64) Member {
        // The flag `offered` is true until a thread starts the chunk.
        std::atomic<bool> offered{false};
        Gate gate;
        ThreadPool *pool = nullptr;
        pthread_t thread{};
    };
    // Known contains the run times that were measured for a loop that is executed repeatedly, such as a sweep over n
    // variables. If another loop has the same hash value, its measurements replace these.
    struct Known {
        Chunk chunk = nullptr;
        int64_t count = 0;
        int most = 0, first = 0;
        TeamSize size;
    };
    bool take(int place) {
        std::atomic<bool> &offered = members_[place].offered;
        return offered && offered.exchange(false);
    }

    // Executes the chunk of this position. Then it executes the chunks that other threads have not started yet.
    void serve(int own) {
        // If another thread has executed this chunk, the loop may already have ended. Then work_ may point to an object
        // that no longer exists.
        if (!take(own)) return;
        // This thread has started a chunk, so the object *work_ remains valid until the chunk is counted as finished.
        Work &work = *work_;
        int done = 0, place = own;
        for (int k = 0; k < work.chunks; k++, place = (place + 1) % work.chunks)
            if (k == 0 || take(place)) {
                work.run_chunk(place);
                done++;
            }
        if (unfinished_.fetch_sub(done) == done) members_[0].gate.open();
    }

    static void *run(void *member);

    const int size_;
    // The threads may spin only if the pool has at most as many threads as there are processors. A spinning thread then
    // does not occupy a processor that another thread of the pool needs.
    const bool awake_;
    const pid_t process_ = getpid();
    std::unique_ptr<Member[]> members_;
    int made_ = 0;
    std::atomic<bool> closing_{false};
    bool busy_ = false;
    Work *work_ = nullptr;
    std::atomic<int> unfinished_{0};
    std::array<Known, 64> known_;
};

// The pool that the current thread uses. A thread of a pool uses the pool to which it belongs. A loop that is started
// within a chunk (a part of the iterations of another loop) therefore finds its pool busy, and runs serially.
PerThread<ThreadPool> pool_of_thread;

void *ThreadPool::run(void *argument) {
    Member &member = *static_cast<Member *>(argument);
    ThreadPool &pool = *member.pool;
    const int place = static_cast<int>(&member - pool.members_.get());
    if (!pool_of_thread.set(&pool)) return nullptr;
    while (!pool.closing_) {
        member.gate.wait([&] { return member.offered || pool.closing_; }, pool.awake_);
        pool.serve(place);
    }
    pool_of_thread.set(nullptr);
    return nullptr;
}

// Returns the pool of this thread, replaced by a larger one if it has fewer threads than requested. Returns NULL if the
// loop must run serially.
ThreadPool *pool_with(int threads) {
    ThreadPool *pool = pool_of_thread.get();
    if (pool && pool->here()) {
        if (pool->busy()) return nullptr;
        if (pool->holds(threads)) return pool;
    }
    pool_of_thread.set(nullptr);
    delete pool;
    std::unique_ptr<ThreadPool> larger(new (std::nothrow) ThreadPool(threads));
    return larger && larger->holds(threads) && pool_of_thread.set(larger.get()) ? larger.release() : nullptr;
}

} // namespace

HostThreads::HostThreads(int asked) : most(asked), learned(false), first(asked) {
    if (asked > 0) return;
    static const int wanted = [] {
        const char *const text = std::getenv("OMP_NUM_THREADS");
        const long number = text ? std::strtol(text, nullptr, 10) : 0;
        // The largest number of threads, which is also the maximum of the option CUDA_OPT_THREADS.
        constexpr long limit = 4096;
        return static_cast<int>(std::clamp<long>(number, 0, limit));
    }();
    static const int all = processors();
    most = first = wanted > 0 ? wanted : all;
    learned = wanted == 0;
}

HostThreads HostThreads::for_work(int64_t work) const {
    constexpr int64_t work_per_thread = 400000; // it takes one thread 0.5 ms in a sweep and 3 ms in a batch
    return learned && program_has_openmp() ? at_most(work / work_per_thread) : *this;
}

void share_chunks(int64_t count, HostThreads threads, Chunk chunk, const void *body) {
    int chunks = static_cast<int>(std::min<int64_t>(count, threads.most));
    const bool openmp = program_has_openmp();
    ThreadPool *const pool = chunks > 1 && !openmp ? pool_with(threads.most) : nullptr;
    if (chunks <= 1 || !(openmp || pool)) return chunk(body, 0, count, 0);
    TeamSize *const size = pool && threads.learned ? &pool->size_for(chunk, count, chunks, threads.first) : nullptr;
    if (size) chunks = size->next();
    const auto begin = Clock::now();
    Work work{count, chunks, chunk, body, {}, {}};
    if (openmp) in_program_team(threads.most, chunks, [&work](int place) { work.run_chunk(place); });
    else pool->share(work);
    if (size) size->took(std::chrono::duration<double>(Clock::now() - begin).count());
    if (work.failure) std::rethrow_exception(work.failure);
}

} // namespace cudaopt
