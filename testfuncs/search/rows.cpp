#include "testfuncs/search/rows.hpp"

#include "exec/thread_pool.hpp"

#include <stdexcept>

namespace cudaopt::testfuncs::search {
namespace {

template <class Real> void evaluate(const Function &function, const Rows<Real> &rows, int threads) {
    std::visit(
        [&](const auto &f) {
            if constexpr (gradient_of<std::decay_t<decltype(f)>>)
                share_host(
                    rows.count, [&](int64_t k, int) { evaluate_row(f, rows, k); },
                    HostThreads(threads).for_variables(rows.count * rows.n));
            else throw std::invalid_argument(f.facts().name + ": it has no gradient");
        },
        function);
}

} // namespace

void evaluate_on_host(const Function &function, const Rows<double> &rows, int threads) {
    evaluate(function, rows, threads);
}
void evaluate_on_host(const Function &function, const Rows<float> &rows, int threads) {
    evaluate(function, rows, threads);
}

} // namespace cudaopt::testfuncs::search
