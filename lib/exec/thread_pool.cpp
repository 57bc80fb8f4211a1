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

#include "exec/program_openmp.hpp"
#include "exec/team_size.hpp"
#include "boundary/per_thread.hpp"

namespace cudaopt {

namespace {

using Clock = std::chrono::steady_clock;

// To wake a thread takes 50 to 100 microseconds, and what the caller does in between is often over within this time.
// Longer, and the threads that wait for the solver would hold up those of the caller's evaluation.
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

// Where a thread waits: awake for a while, then asleep.
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
        int state; // a thread that is cancelled here would leave others at its work
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        {
            std::unique_lock lock(mutex_);
            asleep_ = true; // before the last look, as open() looks after what makes the other ready
            while (!ready()) opened_.wait(lock);
            asleep_ = false;
        }
        pthread_setcancelstate(state, nullptr);
    }
    // After what makes the other ready.
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

// What is shared out at a time.
struct Work {
    const int64_t count;
    const int chunks;
    const Chunk chunk;
    const void *const body;
    std::mutex failing;
    std::exception_ptr failure; // what one of the pieces has thrown

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
            if (pthread_create(&members_[place].thread, nullptr, run, &members_[place]) != 0)
                break; // with those there are
            made_ = place;
        }
    }
    ~ThreadPool() {
        if (!here()) { // nor are the threads that stand at its gates
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

    // Whether this is still the process whose threads they are, and not its child.
    bool here() const { return process_ == getpid(); }
    bool busy() const { return busy_; }
    bool holds(int threads) const { return members_ && threads <= size_; }

    // What is known of this work: of this kind, of so many, among so many. `first` tells works apart whose variables
    // are different in number, but whose subtrees are not.
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
    // A place in the team and its piece. The caller has the first.
    struct alignas(64) Member {
        std::atomic<bool> offered{false}; // its piece, which nobody has taken yet
        Gate gate;
        ThreadPool *pool = nullptr;
        pthread_t thread{};
    };
    // Works that come again, as the sweeps over n variables do; another in the same place takes it over.
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

    // The piece of this place, and then those whose threads are late.
    void serve(int own) {
        if (!take(own)) return; // done by another: the work may be over
        Work &work = *work_;    // which stands as long as a piece that was taken is not counted as done
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
    const bool awake_; // whether waiting threads leave a processor to each that works
    const pid_t process_ = getpid();
    std::unique_ptr<Member[]> members_;
    int made_ = 0;
    std::atomic<bool> closing_{false};
    bool busy_ = false;
    Work *work_ = nullptr;
    std::atomic<int> unfinished_{0};
    std::array<Known, 64> known_;
};

// Each thread's own; of a thread of a pool, that pool, in whose pieces nothing is shared out.
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

// This thread's pool with room for so many; or NULL: it works alone.
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
        constexpr long limit = 4096; // of CUDA_OPT_THREADS
        return static_cast<int>(std::clamp<long>(number, 0, limit));
    }();
    static const int all = processors();
    most = first = wanted > 0 ? wanted : all;
    learned = wanted == 0;
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
