// A team of several lanes is emulated on the host with one thread per lane. Data and synchronisation are those of a
// warp, so that ThreadSanitizer detects data races between lanes.
//
// Functions that are not forced into their callers compile in half the time.
#define CUDA_OPT_HD_INLINE inline

#include <pthread.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "by_rules.hpp"
#include "host_functor.hpp"

using namespace batch_test;
using namespace cudaopt;

namespace {

#ifdef __SANITIZE_THREAD__ // lanes that exchange numbers have not thereby met, as on a device
constexpr auto order = std::memory_order_relaxed;
#else
constexpr auto order = std::memory_order_seq_cst;
#endif

template <int width> class Meeting {
  public:
    Meeting() { pthread_barrier_init(&barrier_, nullptr, width); }
    ~Meeting() { pthread_barrier_destroy(&barrier_); }
    void sync() { pthread_barrier_wait(&barrier_); }
    // The word of each lane to all of them.
    void exchange(int lane, uint64_t mine, uint64_t (&all)[width]) {
        words_[lane].store(mine, order);
        wait();
        for (int other = 0; other < width; other++) all[other] = words_[other].load(order);
        wait(); // before the next one is stored
    }

    int decisions[2] = {}; // of the first lane, alternately

  private:
    void wait() {
        const int turn = turn_.load(order);
        if (arrived_.fetch_add(1, order) == width - 1) {
            arrived_.store(0, order);
            turn_.store(turn + 1, order);
        } else {
            while (turn_.load(order) == turn) std::this_thread::yield();
        }
    }

    pthread_barrier_t barrier_;
    std::atomic<uint64_t> words_[width] = {};
    std::atomic<int> arrived_{0}, turn_{0};
};

template <int width_> class Lane {
  public:
    static constexpr int width = width_;

    Lane(int lane, Meeting<width> &meeting) : lane_(lane), meeting_(&meeting) {}
    int lane() const { return lane_; }
    void sync() const { meeting_->sync(); }
    int64_t broadcast(int64_t mine) const { // lane 0's
        uint64_t all[width];
        meeting_->exchange(lane_, static_cast<uint64_t>(mine), all);
        return static_cast<int64_t>(all[0]);
    }
    // One synchronisation, as on a device. The first lane cannot be two decisions ahead of the others.
    template <class F> int of_first(const F &f) const {
        int &decision = meeting_->decisions[decided_++ % 2];
        if (lane_ == 0) decision = f();
        sync();
        return decision;
    }
    template <class Record> Record join(const Record &mine) const {
        constexpr std::size_t words = (sizeof(Record) + 7) / 8;
        uint64_t all[words][width], own[words] = {};
        std::memcpy(own, &mine, sizeof mine);
        for (std::size_t word = 0; word < words; word++) meeting_->exchange(lane_, own[word], all[word]);
        Record joined;
        for (int other = 0; other < width; other++) {
            for (std::size_t word = 0; word < words; word++) own[word] = all[word][other];
            Record theirs;
            std::memcpy(&theirs, own, sizeof theirs);
            if (other == 0) joined = theirs;
            else joined.join(theirs);
        }
        return joined;
    }
    int append(bool yes, int value, int *list, int count) const {
        uint64_t all[width];
        meeting_->exchange(lane_, yes, all);
        int before = 0, total = 0;
        for (int other = 0; other < width; other++) {
            before += other < lane_ && all[other];
            total += all[other] != 0;
        }
        if (yes) list[count + before] = value;
        return count + total;
    }

  private:
    int lane_;
    mutable int decided_ = 0;
    Meeting<width> *meeting_;
};

// work(lane), by all lanes of a team.
template <int width, class Work> void by_lanes(const Work &work) {
    Meeting<width> meeting;
    std::vector<std::thread> lanes;
    for (int lane = 0; lane < width; lane++) lanes.emplace_back([&, lane] { work(Lane<width>(lane, meeting)); });
    for (std::thread &lane : lanes) lane.join();
}

template <int width> struct EachByLanes {
    template <class Rule> void operator()(int64_t count, const Rule &rule, unsigned char *working) const {
        by_lanes<width>([&](const Lane<width> &lane) {
            for (int64_t k = 0; k < count; k++) {
                rule(lane, k, working);
                lane.sync(); // as a warp's lanes do before their next problem
            }
        });
    }
};

// The whole solve runs in one call, as in the kernel of a functor.
template <int n, int m, int width, int64_t metric = Metric::one_number, bool bounds = true, class History = void,
          class Real>
Left<Real> by_functor(const Data<Real> &data) {
    using Shape = batch::ShapeIn<n, m, metric, HistoryOr<History, Real>, bounds>;
    Left<Real> left{data.x, std::vector<BatchEnd>(static_cast<std::size_t>(data.count))};
    std::vector<double> memory(
        static_cast<std::size_t>(batch::workspace_bytes(Shape()) + batch::vectors_bytes<Real>(Shape())) / 8);
    auto *const working = reinterpret_cast<unsigned char *>(memory.data());
    const batch::BatchData<Real> task{data.count, left.x.data(), data.bounds(), left.ends.data()};
    const Settings settings = batch::for_small_problems(options<Real>().settings, metric);
    int64_t next = 0;
    by_lanes<width>([&](const Lane<width> &lane) {
        batch::solve_in_turn<Shape, metric>(
            lane, Valleys<n, Real>(), task, settings, batch::in_one_piece(Shape(), working),
            working + batch::workspace_bytes(Shape()), [&] { return lane.broadcast(lane.lane() == 0 ? next++ : 0); });
    });
    return left;
}

// By the C interface. A batch by a functor has the same results (functor.cpp), but takes much longer to compile.
template <int n, int m, int64_t metric = Metric::one_number, class History = void, class Real>
Left<Real> by_one_thread(const Data<Real> &data) {
    if constexpr (std::is_same_v<HistoryOr<History, Real>, Real>)
        return by_reverse_communication<n, m, metric>(data, CUDA_OPT_BACKEND_HOST);
    else return solve_on_host<n, m, metric, History>(data, 1);
}

template <int n, int width, class Real, class ShapeOf>
void check_lanes(int64_t count, const ShapeOf &shape, int64_t metric = Metric::one_number, int last_round = 0) {
    for (const bool bounded : {false, true}) {
        INFO("n = " << n << ", " << width << " lanes, bounded: " << bounded << ", metric: " << metric);
        const Data<Real> data(n, count, bounded);
        Settings settings = options<Real>().settings;
        settings.metric = metric;
        settings.max_iterations = 25;
        std::vector<Real> diagonal;
        for (int i = 0; i < n; i++) diagonal.push_back(Real(1) / Real(50 + 300 * i));
        const auto run = [&](const auto &each) {
            return by_rules<n, Real>(data, shape, settings, !bounded, diagonal.data(), last_round, each);
        };
        CHECK(same(run(EachByLanes<width>()), run(EachByOneThread())));
    }
}

} // namespace

TEST_CASE("Lanes emulated by threads give the same bits as one thread", "[batch][threads]") {
    check_lanes<20, 8, double>(9, batch::Shape{20, 5});
    check_lanes<5, 4, double>(9, batch::Shape{5, 3});
    check_lanes<20, 4, float>(5, batch::Shape{20, 4});
    check_lanes<20, 4, double>(5, batch::ShapeOfPairs<5>{20});
    check_lanes<33, 32, double>(2, batch::Shape{33, 2});
    check_lanes<5, 4, double>(5, batch::Shape{5, 12});
    check_lanes<5, 4, double>(5, batch::Shape{5, 5}, Metric::one_number, 7); // ends at a stop
}

TEST_CASE("A batch by a functor has the same bits with several lanes as with one thread", "[batch][threads]") {
    for (const bool bounded : {false, true}) {
        const Data<double> small(5, 9, bounded), data(20, 5, bounded);
        const Data<float> single(20, 5, bounded);
        CHECK(same(by_functor<5, 5, 8>(small), by_one_thread<5, 5>(small)));
        CHECK(same(by_functor<20, 5, 8>(data), by_one_thread<20, 5>(data)));
        CHECK(same(by_functor<20, 3, 4>(single), by_one_thread<20, 3>(single)));
        CHECK(same(by_functor<5, 11, 4>(small), by_one_thread<5, 11>(small)));
        CHECK(same(by_functor<20, 5, 8, Metric::learned>(data), by_one_thread<20, 5, Metric::learned>(data)));
        CHECK(same(by_functor<5, 5, 4, Metric::callers>(small), by_one_thread<5, 5, Metric::callers>(small)));
    }
}

namespace {

// Without bounds each lane computes products of its own, in several rounds if there are more products than lanes.
template <int n, int m, int width, class History, class Real> void check_without_bounds(int64_t count) {
    INFO("n = " << n << ", m = " << m << ", " << width << " lanes");
    const Data<Real> data(n, count, false);
    const auto without_bounds = by_functor<n, m, width, Metric::one_number, false, History>(data.without_bounds());
    CHECK(same(without_bounds, by_one_thread<n, m, Metric::one_number, History>(data)));
}

} // namespace

TEST_CASE("Without bounds a batch by a functor has the same bits with several lanes", "[batch][threads]") {
    check_without_bounds<20, 5, 8, double, double>(5);
    check_without_bounds<33, 5, 32, double, double>(2);
    check_without_bounds<5, 1, 2, double, double>(5);
    check_without_bounds<1, 3, 4, double, double>(5);
    check_without_bounds<5, 10, 32, float, double>(3);
    check_without_bounds<20, 5, 4, bfloat16, double>(3);
    check_without_bounds<5, 3, 4, bfloat16, float>(5);
}

TEST_CASE("With a diagonal initial Hessian several lanes give the same bits as one thread", "[batch][threads]") {
    for (const int64_t metric : {Metric::callers, Metric::learned}) {
        check_lanes<20, 8, double>(6, batch::Shape{20, 5, true}, metric);
        check_lanes<5, 4, float>(6, batch::Shape{5, 6, true}, metric);
    }
}
