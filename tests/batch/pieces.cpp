// Problems whose blocks stand in pieces side by side, as those of a device's threads do: here on the host, each against
// the functor's batch, where blocks stand whole.
#include <catch2/catch.hpp>

#include "batch/rules.hpp"
#include "functors.hpp"
#include "on_host.hpp"

using namespace batch_test;
using namespace cudaopt;

namespace {

template <int n, int m, class Real> Left<Real> in_pieces(const Data<Real> &data, bool packed) {
    using Shape = batch::ThreadShape<m>;
    constexpr Shape shape{n};
    const auto count = static_cast<std::size_t>(data.count);
    const auto doubles = [](int64_t bytes) { return std::vector<double>(static_cast<std::size_t>(bytes / 8 + 1), -7); };
    std::vector<double> blocks = doubles(batch::blocks_bytes<Real>(shape, data.count)),
                        desk = doubles(batch::working_bytes(shape)), f(count);
    const std::vector<double> untouched(1, blocks.back()); // behind the last block
    Left<Real> left{data.x, std::vector<BatchEnd>(count)};
    std::vector<Real> g(left.x.size());
    std::vector<int32_t> codes(count);
    std::vector<unsigned char> marks(count);
    auto *const working = reinterpret_cast<unsigned char *>(desk.data());

    batch::Problems<Real, Shape> all;
    all.shape = shape, all.packed = packed;
    all.blocks = reinterpret_cast<unsigned char *>(blocks.data());
    all.x = left.x.data(), all.g = g.data(), all.f = f.data();
    all.lower = data.lower.data(), all.upper = data.upper.data(), all.bounds_for_each = true;
    all.codes = codes.data(), all.marks = marks.data();
    const auto pass = [&](int64_t problems, batch::Pass which) {
        for (int64_t k = 0; k < problems; k++)
            batch::Advance<Real, Shape>{all, options<Real>().settings, which, false, 0}(batch::OneThread{}, k, working);
    };
    pass(data.count, batch::Pass::begin);
    for (std::vector<int64_t> list;;) {
        list.clear();
        for (int64_t p = 0; p < data.count; p++)
            if (marks[static_cast<std::size_t>(p)]) list.push_back(p);
        if (list.empty()) break;
        all.list = list.data();
        const auto active = static_cast<int64_t>(list.size());
        for (int64_t k = 0; packed && k < active; k++)
            batch::PackActive<Real, Shape>{all}(batch::OneThread{}, k, working);
        for (int64_t k = 0; k < active; k++) {
            const int64_t row = all.row(k);
            f[static_cast<std::size_t>(row)] =
                Valleys<n, Real>()(batch::OneThread{}, all.problem(k), left.x.data() + row * n, g.data() + row * n);
        }
        pass(active, batch::Pass::go_on);
    }
    all.list = nullptr;
    for (int64_t p = 0; packed && p < data.count; p++)
        batch::WriteEnded<Real, Shape>{all}(batch::OneThread{}, p, working);
    for (int64_t p = 0; p < data.count; p++) {
        const auto problem = all.take(batch::OneThread{}, p, working);
        left.ends[static_cast<std::size_t>(p)] =
            batch::end_of(problem.state().results, codes[static_cast<std::size_t>(p)]);
    }
    CHECK(blocks.back() == untouched[0]);
    return left;
}

template <int n, int m, class Real> void check_pieces(int64_t count) {
    for (const bool bounded : {false, true})
        for (const bool packed : {false, true}) {
            INFO("n = " << n << ", m = " << m << ", bounded: " << bounded << ", packed: " << packed);
            const Data<Real> data(n, count, bounded);
            CHECK(same(in_pieces<n, m>(data, packed), on_host<n, m>(data)));
        }
}

} // namespace

TEST_CASE("Problems in pieces come to what they come to in blocks of their own", "[batch]") {
    check_pieces<1, 5, double>(1);
    check_pieces<5, 5, double>(137);
    check_pieces<20, 5, double>(96);
    check_pieces<7, 10, float>(137);
    check_pieces<20, 5, float>(33);
}

TEST_CASE("A problem that is given up tells the limit that was set last", "[batch]") {
    using Shape = batch::ThreadShape<5>;
    constexpr Shape shape{2};
    const auto doubles = [](int64_t bytes) { return std::vector<double>(static_cast<std::size_t>(bytes / 8 + 1)); };
    std::vector<double> blocks = doubles(batch::blocks_bytes<double>(shape, 1)),
                        working = doubles(batch::working_bytes(shape)), x{1, 2}, g(2), f(1);
    int32_t code = 0;
    unsigned char mark = 0;
    batch::Problems<double, Shape> all;
    all.shape = shape;
    all.blocks = reinterpret_cast<unsigned char *>(blocks.data());
    all.x = x.data(), all.g = g.data(), all.f = f.data(), all.codes = &code, all.marks = &mark;
    auto *const desk = reinterpret_cast<unsigned char *>(working.data());
    Settings settings;
    settings.max_seconds = 60;
    batch::Advance<double, Shape>{all, settings, batch::Pass::begin, false, 0}(batch::OneThread{}, 0, desk);
    CHECK(code == CUDA_OPT_EVALUATE_FG);
    CHECK(mark == 1);

    settings.max_seconds = 2.5;
    batch::Advance<double, Shape>{all, settings, batch::Pass::end_of_time, false, 3}(batch::OneThread{}, 0, desk);
    CHECK(code == CUDA_OPT_TIME_LIMIT);
    CHECK(mark == 0);
    const Event event = all.take(batch::OneThread{}, 0, desk).state().event;
    CHECK(event.kind == EventKind::time_limit_while_waiting);
    CHECK(event.numbers[0] == 2.5);
    CHECK(event.numbers[1] == 3);
}
