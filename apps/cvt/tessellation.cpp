#include "apps/cvt/tessellation.hpp"

#include "apps/cvt/cell_sums.hpp"
#include "apps/cvt/evaluator.hpp"
#include "apps/cvt/flooding.hpp"

#include <numeric>
#include <stdexcept>
#include <string>

namespace cudaopt::cvt {
namespace {

int32_t checked_resolution(int64_t sites, int64_t resolution) {
    if (resolution < 1 || resolution > most_resolution)
        throw std::invalid_argument("resolution: must be from 1 to " + std::to_string(most_resolution) +
                                    " pixels a side, not " + std::to_string(resolution));
    if (sites < 1) throw std::invalid_argument("sites: there must be at least one, not " + std::to_string(sites));
    if (sites > resolution * resolution)
        throw std::invalid_argument("sites: " + std::to_string(sites) + " are more than the " +
                                    std::to_string(resolution * resolution) + " pixels of resolution " +
                                    std::to_string(resolution));
    return static_cast<int32_t>(resolution);
}

// Returns the random number in (0, 1) with the index `count` for a seed, by SplitMix64 (Steele, Lea, Flood, OOPSLA
// 2014).
double uniform(uint64_t seed, uint64_t count) {
    uint64_t z = seed * 0xd1342543de82ef95 + (count + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return (static_cast<double>(z >> 12) + 0.5) * 0x1p-52;
}

} // namespace

Tessellation::Tessellation(int64_t sites, int64_t resolution, const Density &density)
    : Tessellation(sites, resolution, density, Flooding::two_after) {}

Tessellation::Tessellation(int64_t sites, int64_t resolution, const Density &density, Flooding flooding)
    : sites_(sites), resolution_(checked_resolution(sites, resolution)), flooding_(flooding),
      levels_(sample(density, resolution_)) {}

Tessellation::~Tessellation() = default;

double Tessellation::mean_mass() const {
    const double pixels = static_cast<double>(resolution_) * resolution_;
    const double sum = levels_.at.empty() ? pixels : std::accumulate(levels_.at.begin(), levels_.at.end(), 0.);
    return sum * levels_.level / pixels / static_cast<double>(sites_);
}

std::vector<double> Tessellation::random_sites(uint64_t seed) const {
    // Rejection sampling is limited to this number of trials per site, in case the density is nearly zero everywhere.
    constexpr int most_tries = 100000;
    const int most = levels_.at.empty() ? 1 : most_levels(resolution_);
    std::vector<double> x(2 * static_cast<std::size_t>(sites_));
    uint64_t count = 0;
    for (std::size_t i = 0; i < x.size(); i += 2)
        for (int tries = 0; tries < most_tries; tries++) {
            x[i] = uniform(seed, count++);
            x[i + 1] = uniform(seed, count++);
            if (levels_.at.empty()) break;
            const auto column = static_cast<std::size_t>(x[i] * resolution_);
            const auto row = static_cast<std::size_t>(x[i + 1] * resolution_);
            if (uniform(seed, count++) * most < levels_.at[row * static_cast<std::size_t>(resolution_) + column]) break;
        }
    return x;
}

void Tessellation::evaluate(const double *x, double *f, double *g, const Place &place,
                            const std::function<bool()> &stop) {
    if (!evaluator_ || place.space != space_) {
        const Setup setup = {Packing(sites_, resolution_), sites_, steps_of(flooding_, resolution_), &levels_};
        evaluator_.reset();
        evaluator_ = place.space == Place::Space::cuda ? make_cuda_evaluator(setup) : make_host_evaluator(setup);
        space_ = place.space;
    }
    evaluator_->evaluate(x, f, g, place, stop);
}

Cells Tessellation::cells() const {
    Cells cells;
    if (!evaluator_) return cells;
    cells.resolution = resolution_;
    const Packing packing(sites_, resolution_);
    for (const Word word : evaluator_->words()) cells.site.push_back(packing.number(word));
    cells.centroid = cells.x = evaluator_->sites();
    const double h = 1. / resolution_;
    std::size_t i = 0;
    for (const CellSums &s : evaluator_->sums()) {
        const double mass = static_cast<double>(s.mass);
        cells.mass.push_back(mass * levels_.level * h * h);
        cells.empty += s.mass == 0;
        double &x = cells.centroid[i++], &y = cells.centroid[i++];
        if (s.mass > 0) {
            x = (packing.pixel(packing.fixed(x)) + 0.5 + static_cast<double>(s.x) / mass) * h;
            y = (packing.pixel(packing.fixed(y)) + 0.5 + static_cast<double>(s.y) / mass) * h;
        }
    }
    return cells;
}

int Tessellation::passes() const { return static_cast<int>(steps_of(flooding_, resolution_).size()); }

double Tessellation::host_memory(int64_t sites, int64_t resolution, bool constant_density) {
    checked_resolution(sites, resolution);
    const double pixels = static_cast<double>(resolution) * static_cast<double>(resolution);
    const double of_pixel = 3 * sizeof(Word) + 2 * sizeof(uint32_t) + (constant_density ? 0 : sizeof(uint16_t));
    const double of_site = sizeof(CellSums) + 4 * sizeof(double) * 3;
    return of_pixel * pixels + of_site * static_cast<double>(sites);
}

double Tessellation::bytes() const {
    const double words = 2. * passes() + 2, density = levels_.at.empty() ? 0 : sizeof(levels_.at[0]);
    return (sizeof(Word) * words + density) * resolution_ * resolution_;
}

} // namespace cudaopt::cvt
