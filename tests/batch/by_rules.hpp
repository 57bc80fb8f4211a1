// A whole batch by the rules that a machine puts on its backend, here with any team on the host.
#pragma once

#include "batch/rules.hpp"
#include "on_host.hpp"

namespace batch_test {

// each(count, rule): rule(team, k, working) for each k, with working_bytes(shape). diagonal: one row for all, or NULL.
// last_round: all end there, as stopped; 0: none of them.
template <int n, class Real, class ShapeOf, class Each>
Left<Real> by_rules(const Data<Real> &data, const ShapeOf &shape, const cudaopt::Settings &chosen, bool packed,
                    const Real *diagonal, int last_round, const Each &each) {
    namespace batch = cudaopt::batch;
    const cudaopt::Settings settings =
        batch::for_small_problems(chosen, batch::in_metric(shape) ? chosen.metric : cudaopt::Metric::one_number);
    const auto count = static_cast<std::size_t>(data.count);
    const auto doubles = [](int64_t bytes) { return std::vector<double>(static_cast<std::size_t>(bytes / 8 + 1), -7); };
    std::vector<double> blocks = doubles(batch::blocks_bytes<Real>(shape, data.count)),
                        desk = doubles(batch::workspace_bytes(shape)), f(count);
    Left<Real> left{data.x, std::vector<cudaopt::BatchEnd>(count)};
    std::vector<Real> g(left.x.size());
    std::vector<int32_t> codes(count);
    std::vector<unsigned char> marks(count);
    auto *const working = reinterpret_cast<unsigned char *>(desk.data());

    batch::Problems<Real, ShapeOf> all;
    all.shape = shape, all.packed = packed;
    all.blocks = reinterpret_cast<unsigned char *>(blocks.data());
    cudaopt::BatchArrays &arrays = all.arrays;
    arrays.x = left.x.data(), arrays.g = g.data(), arrays.f = f.data(), arrays.diagonal = diagonal;
    const cudaopt::BatchBounds<Real> bounds = data.bounds();
    arrays.lower = bounds.lower, arrays.upper = bounds.upper, arrays.bounds_for_each = bounds.for_each;
    all.codes = codes.data(), all.marks = marks.data();
    const auto pass = [&](int64_t problems, const auto &rule) { each(problems, rule, working); };
    pass(data.count, batch::Advance<Real, ShapeOf>{all, settings, cudaopt::Purpose::begin, false, 0});
    std::vector<int64_t> list;
    for (int round = 1;; round++) {
        list.clear();
        for (int64_t p = 0; p < data.count; p++)
            if (marks[static_cast<std::size_t>(p)]) list.push_back(p);
        if (list.empty()) break;
        all.list = list.data();
        const auto active = static_cast<int64_t>(list.size());
        if (packed) pass(active, batch::PackActive<Real, ShapeOf>{all});
        for (int64_t k = 0; k < active; k++) {
            const int64_t row = all.row(k);
            f[static_cast<std::size_t>(row)] =
                Valleys<n, Real>()(batch::OneThread{}, all.problem(k), left.x.data() + row * n, g.data() + row * n);
        }
        pass(active, batch::Advance<Real, ShapeOf>{all, settings, cudaopt::Purpose::resume, round == last_round, 0});
    }
    all.list = nullptr;
    if (packed) pass(data.count, batch::WriteEnded<Real, ShapeOf>{all});
    for (int64_t p = 0; p < data.count; p++) {
        all.load(batch::OneThread{}, p, working);
        left.ends[static_cast<std::size_t>(p)] = batch::end_of(
            all.problem_of(batch::OneThread{}, p, settings, working).results(), codes[static_cast<std::size_t>(p)]);
    }
    CHECK(blocks.back() == -7); // behind the last block
    CHECK(desk.back() == -7);
    return left;
}

struct EachByOneThread {
    template <class Rule> void operator()(int64_t count, const Rule &rule, unsigned char *working) const {
        for (int64_t k = 0; k < count; k++) rule(cudaopt::batch::OneThread{}, k, working);
    }
};

} // namespace batch_test
