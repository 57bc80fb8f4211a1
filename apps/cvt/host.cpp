// The evaluation of a tessellation's energy on the host.
#include "apps/cvt/evaluator.hpp"
#include "apps/cvt/flooding.hpp"

#include "exec/map_reduce_host.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cudaopt::cvt {
namespace {

// Sums 256 partial sums ("lanes") by a binary tree, in the same order as on CUDA.
double tree(std::array<double, lanes> value) {
    for (int stride = lanes / 2; stride > 0; stride /= 2)
        for (int k = 0; k < stride; k++) value[k] += value[k + stride];
    return value[0];
}

// Adds a term to an integer sum to which other threads may add at the same time.
template <class Integer> void add(Integer &sum, Integer term) { __atomic_fetch_add(&sum, term, __ATOMIC_RELAXED); }

class HostEvaluator : public Evaluator {
  public:
    explicit HostEvaluator(const Setup &setup)
        : setup_(setup), words_(static_cast<std::size_t>(setup.packing.pixels())), next_(words_.size()),
          sums_(static_cast<std::size_t>(setup.sites)) {}

    void evaluate(const double *x, double *f, double *g, const Place &place, const Stop &stop) override {
        threads_ = place.threads;
        stop_ = stop ? &stop : nullptr;
        sites_.assign(x, x + 2 * setup_.sites);
        plant(x);
        for (const int32_t step : setup_.steps) flood(step);
        sum_cells();
        if (stopped()) {
            // The evaluation was stopped, so that the sums are incomplete and f has no value.
            *f = NAN;
            return;
        }
        *f = energy({setup_.packing, setup_.gradient_scale(), sums_.data(), x, g}) * setup_.energy_scale();
    }

    std::vector<Word> words() const override { return words_; }
    std::vector<CellSums> sums() const override { return sums_; }
    std::vector<double> sites() const override { return sites_; }

  private:
    bool stopped() const { return stop_ && (*stop_)(); }
    std::size_t at(int64_t x, int64_t y) const { return static_cast<std::size_t>(y * setup_.packing.resolution + x); }

    void plant(const double *x) {
        const Packing &packing = setup_.packing;
        std::fill(words_.begin(), words_.end(), no_site);
        const auto keep_least = [this](int64_t pixel, Word site) {
            Word &word = words_[static_cast<std::size_t>(pixel)];
            const Word before = word;
            word = std::min(word, site);
            return before;
        };
        for (int64_t i = 0; i < setup_.sites; i++)
            cvt::plant(packing, packing.pack(i, packing.fixed(x[2 * i]), packing.fixed(x[2 * i + 1])), keep_least);
    }

    void flood(int32_t step) {
        const int32_t resolution = setup_.packing.resolution;
        const auto flood_row = [&](int64_t row, int) {
            const int32_t y = static_cast<int32_t>(row);
            if (stopped()) return;
            for (int32_t x = 0; x < resolution; x++) next_[at(x, y)] = nearest(x, y, step);
        };
        share_host(resolution, flood_row, threads_);
        words_.swap(next_);
    }

    Word nearest(int32_t x, int32_t y, int32_t step) const {
        const Packing &packing = setup_.packing;
        const float column = packing.centre(x), row = packing.centre(y);
        Nearest nearest;
        nearest.offer(Candidate::of(packing, words_[at(x, y)], column), row);
        for (int32_t ny = y - step; ny <= y + step; ny += step)
            for (int32_t nx = x - step; nx <= x + step; nx += step) {
                if (nx < 0 || ny < 0 || nx >= packing.resolution || ny >= packing.resolution) continue;
                const Word word = words_[at(nx, ny)];
                if (word != nearest.site) nearest.offer(Candidate::of(packing, word, column), row);
            }
        return nearest.site;
    }

    void sum_cells() {
        const Packing &packing = setup_.packing;
        const std::vector<uint16_t> &weights = setup_.levels->at;
        // If the evaluation was stopped, jump flooding is incomplete, and some pixels may not have a site.
        if (stopped()) return;
        std::fill(sums_.begin(), sums_.end(), CellSums());
        const auto sum_row = [&](int64_t row, int) {
            const int32_t y = static_cast<int32_t>(row);
            if (stopped()) return;
            Word word = words_[at(0, y)];
            CellSums run;
            for (int32_t x = 0; x < packing.resolution; x++) {
                if (words_[at(x, y)] != word) {
                    join(word, run);
                    run = CellSums();
                    word = words_[at(x, y)];
                }
                run.add(weights.empty() ? 1 : weights[at(x, y)], x - packing.pixel(packing.x(word)),
                        y - packing.pixel(packing.y(word)));
            }
            join(word, run);
        };
        share_host(packing.resolution, sum_row, threads_);
    }

    void join(Word word, const CellSums &run) {
        CellSums &sums = sums_[setup_.packing.number(word)];
        add(sums.mass, run.mass);
        add(sums.x, run.x);
        add(sums.y, run.y);
        add(sums.square, run.square);
    }

    double energy(const CellRule &rule) {
        const int64_t rounds = (setup_.sites + lanes - 1) / lanes;
        round_energy_.resize(static_cast<std::size_t>(rounds));
        const auto evaluate_round = [&](int64_t round, int) {
            std::array<double, lanes> value{};
            const int64_t first = round * lanes, count = std::min<int64_t>(lanes, setup_.sites - first);
            for (int64_t k = 0; k < count; k++) value[static_cast<std::size_t>(k)] = rule(first + k);
            round_energy_[static_cast<std::size_t>(round)] = tree(value);
        };
        share_host(rounds, evaluate_round, threads_);
        std::array<double, lanes> value{};
        for (std::size_t round = 0; round < round_energy_.size(); round++) value[round % lanes] += round_energy_[round];
        return tree(value);
    }

    Setup setup_;
    const Stop *stop_ = nullptr;
    std::vector<Word> words_, next_;
    std::vector<CellSums> sums_;
    std::vector<double> sites_, round_energy_;
    HostThreads threads_ = 1;
};

} // namespace

std::unique_ptr<Evaluator> make_host_evaluator(const Setup &setup) { return std::make_unique<HostEvaluator>(setup); }

} // namespace cudaopt::cvt
