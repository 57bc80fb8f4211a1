// The blocks of problems are interleaved, as for the threads of a device. Here they are solved on the host and compared
// with the C interface, where blocks are contiguous.
//
// Functions that are not forced into their callers compile in half the time.
#define CUDA_OPT_HD_INLINE inline

#include <catch2/catch.hpp>

#include "by_rules.hpp"

using namespace batch_test;
using namespace cudaopt;

namespace {

template <int n, int m, class Real> void check_pieces(int64_t count) {
    for (const bool bounded : {false, true})
        for (const bool packed : {false, true}) {
            INFO("n = " << n << ", m = " << m << ", bounded: " << bounded << ", packed: " << packed);
            const Data<Real> data(n, count, bounded);
            const auto in_pieces = by_rules<n, Real>(data, batch::ThreadShape<m>{n}, options<Real>().settings, packed,
                                                     nullptr, 0, EachByOneThread());
            CHECK(same(in_pieces, by_reverse_communication<n, m>(data, CUDA_OPT_BACKEND_HOST)));
            if (bounded) continue;
            const auto none = by_rules<n, Real>(data.without_bounds(), batch::ThreadShape<m, false>{n},
                                                options<Real>().settings, packed, nullptr, 0, EachByOneThread());
            CHECK(same(none, in_pieces));
        }
}

} // namespace

TEST_CASE("Interleaved storage of problems gives the same bits as contiguous blocks", "[batch]") {
    check_pieces<1, 5, double>(1);
    check_pieces<5, 5, double>(137);
    check_pieces<20, 5, double>(96);
    check_pieces<5, 10, float>(137);
    check_pieces<20, 5, float>(33);
}

TEST_CASE("A problem that ends at the time limit reports the time", "[batch]") {
    using Shape = batch::ThreadShape<5>;
    constexpr Shape shape{2};
    const auto doubles = [](int64_t bytes) { // of memory that may hold anything
        return std::vector<double>(static_cast<std::size_t>(bytes / 8 + 1), NAN);
    };
    std::vector<double> blocks = doubles(batch::blocks_bytes<double>(shape, 1)),
                        working = doubles(batch::workspace_bytes(shape)), x{1, 2}, g(2), f(1);
    int32_t code = 0;
    unsigned char mark = 0;
    batch::Problems<double, Shape> all;
    all.shape = shape;
    all.blocks = reinterpret_cast<unsigned char *>(blocks.data());
    all.arrays.x = x.data(), all.arrays.g = g.data(), all.arrays.f = f.data(), all.codes = &code, all.marks = &mark;
    auto *const desk = reinterpret_cast<unsigned char *>(working.data());
    Settings settings;
    settings.max_seconds = 60;
    batch::Advance<double, Shape>{all, settings, Purpose::begin, false, 0}(batch::OneThread{}, 0, desk);
    CHECK(code == CUDA_OPT_EVALUATE_FG);
    CHECK(mark == 1);

    settings.max_seconds = 2.5;
    batch::Advance<double, Shape>{all, settings, Purpose::end_of_time, false, 3}(batch::OneThread{}, 0, desk);
    CHECK(code == CUDA_OPT_TIME_LIMIT);
    CHECK(mark == 0);
    all.load(batch::OneThread{}, 0, desk);
    const Iteration &it = reinterpret_cast<const batch::Persistent<Shape> *>(desk)->iteration;
    CHECK(it.event == Event::time_limit_while_waiting);
    CHECK(it.numbers[0] == 3);
    CHECK((x == std::vector<double>{1, 2} && g == std::vector<double>{0, 0} && f[0] == 0)); // neither came
}
