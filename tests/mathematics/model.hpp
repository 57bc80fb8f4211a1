// The Cauchy search and the subspace minimisation, answered by the reference's verbs.
#pragma once

#include "iterate.hpp"
#include "lbfgsb/subspace.hpp"

namespace mathematics {

using cudaopt::CauchySearch;

// A search and all that its answers stand in.
class Search {
  public:
    Search(const Iterate &iterate, int64_t capacity, bool approximate)
        : cauchy(iterate.machine.m), subspace(iterate.machine.m), iterate_(iterate) {
        gather(0);
        state = cauchy.begin(iterate.memory, iterate.memory.middle(), iterate.panel_at_start(), products.sums,
                             iterate.bounded(), approximate);
        while (state == cudaopt::CauchyTurn::asks) {
            cudaopt::Request request;
            cauchy.ask(request);
            if (request.verb == cudaopt::Verb::inner_products) {
                gather(cauchy.panel().threshold);
                gathers++;
            } else {
                REQUIRE(request.verb == cudaopt::Verb::crossed);
                window = iterate.machine.crossed(cauchy.panel(), request.lo, request.hi);
                answer.crossed = window.answer(capacity);
                overflows += answer.crossed.count > cudaopt::crossed_capacity;
                windows++;
            }
            REQUIRE(windows + gathers < 10000);
            state = cauchy.resume(iterate.memory, iterate.memory.middle(), *answer.sums, answer.crossed);
        }
    }

    const cudaopt::CauchyPoint &point() const { return cauchy.point(); }
    bool minimise(cudaopt::LimitedMemory &memory, bool all_free) {
        return subspace.minimise(memory, cauchy, cauchy.free_gram(*answer.sums), all_free, subspace.coefficients());
    }
    cudaopt::DirectionRequest direction() const {
        cudaopt::DirectionRequest request{};
        request.panel = iterate_.panel_at_start();
        request.panel.threshold = point().threshold;
        request.gradient_coefficient = -1 / iterate_.memory.theta();
        request.coefficients = subspace.coefficients();
        request.step = 1;
        request.spare_slot = iterate_.memory.spare_slot();
        return request;
    }

    Placed<CauchySearch> cauchy;
    Placed<cudaopt::Subspace> subspace;
    cudaopt::Answer answer;
    reference::Products products;
    reference::Window window;
    cudaopt::CauchyTurn state;
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
