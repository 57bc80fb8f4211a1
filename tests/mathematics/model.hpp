// The Cauchy search and the subspace minimisation with the replies of the reference machine.
#pragma once

#include "iterate.hpp"
#include "lbfgsb/subspace.hpp"

namespace mathematics {

using cudaopt::CauchySearch;
using cudaopt::CauchyState;

// A Cauchy search and the memory of the replies to its requests.
class Search {
  public:
    Search(const Iterate &iterate, int64_t capacity, bool approximate)
        : cauchy(iterate.machine.m), system(iterate.machine.m), iterate_(iterate) {
        gather(0);
        state = cauchy.begin(iterate.memory, iterate.middle, iterate.panel_at_start(), products.sums, iterate.bounded(),
                             approximate);
        while (state == CauchyState::window || state == CauchyState::inner_products) {
            if (state == CauchyState::inner_products) {
                gather(cauchy.panel().threshold);
                gathers++;
            } else {
                window = iterate.machine.crossed(cauchy.panel(), cauchy.window_begin(), cauchy.window_end());
                answer.crossed = window.answer(capacity);
                overflows += answer.crossed.count > cudaopt::crossed_capacity;
                windows++;
            }
            REQUIRE(windows + gathers < 10000);
            state = cauchy.resume(iterate.memory, iterate.middle, *answer.sums, answer.crossed);
        }
    }

    const cudaopt::CauchyPoint &point() const { return cauchy.point(); }
    bool minimise(cudaopt::CompactMatrix<0> &memory, bool all_free) {
        const CauchySearch<0> &path = cauchy;
        std::vector<double> workspace(static_cast<std::size_t>(2 * memory.capacity()));
        coefficients.resize(static_cast<std::size_t>(cudaopt::panel::columns(memory.capacity())));
        return cudaopt::minimise_subspace(memory, path.p(), point().crossed ? path.c() : nullptr, point().t,
                                          all_free ? nullptr : path.free_gram(*answer.sums), system, workspace.data(),
                                          coefficients.data());
    }
    cudaopt::DirectionRequest direction() const {
        cudaopt::DirectionRequest request{};
        request.panel = iterate_.panel_at_start();
        request.panel.threshold = point().threshold;
        request.gradient_coefficient = -1 / iterate_.memory.theta();
        request.coefficients = coefficients.data();
        request.step = 1;
        request.spare_slot = iterate_.memory.spare_slot();
        return request;
    }

    Placed<CauchySearch<0>> cauchy;
    Placed<cudaopt::CompactMatrix<0>::Factors> system;
    std::vector<double> coefficients;
    cudaopt::Reply answer;
    reference::Products products;
    reference::Window window;
    CauchyState state;
    int windows = 0, gathers = 0, overflows = 0;

  private:
    void gather(double threshold) {
        cudaopt::PanelRequest panel = iterate_.panel_at_start();
        panel.threshold = threshold;
        products = iterate_.machine.inner_products(panel);
        answer.sums = &products.sums;
    }

    const Iterate &iterate_;
};

} // namespace mathematics
