// The energy of a Voronoi tessellation of the unit square on a grid, as a function to be minimised: its minimisers are
// centroidal Voronoi tessellations (Du, Faber, Gunzburger, SIAM Review 41 (1999) 637).
//
//     F(x_1, ..., x_k) = sum over pixels p of rho(p) |p - x_i(p)|^2 h^2,    i(p) the site nearest to p,
//
// with pixel centres ((i + 1/2) h, (j + 1/2) h), h = 1 / resolution; dF/dx_i = 2 m_i (x_i - c_i) with the mass m_i and
// the centroid c_i of cell i. There are n = 2k variables: x_0, y_0, x_1, y_1, ... in the box [0, 1]^n.
//
// Host and CUDA follow one rule and give the same bits, in each run and for any number of threads.
//
// Of sites that coincide, only that of the lowest number has a cell, and of many in one pixel some may have none. These
// have no gradient and stay; the others move away, and an evaluation later one more has a cell.
#pragma once

#include "apps/cvt/density.hpp"
#include "testfuncs/problem.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace cudaopt::cvt {

using testfuncs::Place;

enum class Flooding;
class Evaluator;

// What an evaluation saw, on the host.
struct Cells {
    int32_t resolution = 0;
    std::vector<uint32_t> site;   // of each pixel, row after row from y = 0
    std::vector<double> mass;     // m_i of each site; 0: its cell is empty
    std::vector<double> x;        // the sites
    std::vector<double> centroid; // c_i as x_0, y_0, ...; of an empty cell the site itself
    int64_t empty = 0;            // cells without mass
};

class Tessellation {
  public:
    // Throws std::invalid_argument with a sentence: no sites, more sites than pixels, a resolution out of its range,
    // a density that is zero at all pixels
    Tessellation(int64_t sites, int64_t resolution, const Density &density = {});
    Tessellation(int64_t sites, int64_t resolution, const Density &density, Flooding flooding);
    ~Tessellation();

    int64_t sites() const { return sites_; }
    int32_t resolution() const { return resolution_; }
    // The mass of the square over the number of sites.
    double mean_mass() const;

    // Random sites, one by one by rejection from the density; the same seed gives the same sites.
    std::vector<double> random_sites(uint64_t seed) const;

    // F and its gradient, to the place where x lives. On CUDA the work is queued on the stream and not waited for; one
    // tessellation's evaluations belong on one stream. A place that changes between host and CUDA starts anew.
    // Throws std::runtime_error where CUDA fails, or is asked for and was not built in
    // stop: looked at many times a second on the host. Once it is true, the evaluation ends soon, and f is NaN
    void evaluate(const double *x, double *f, double *g, const Place &place, const std::function<bool()> &stop = {});
    // What the last evaluation saw.
    Cells cells() const;

    // Passes of jump flooding in an evaluation.
    int passes() const;
    // Bytes that an evaluation has to move if each array is read or written once where it is used: a word of 8 bytes a
    // pixel, written once to clear it, read and written in each pass, read once for the sums, with the density.
    double bytes() const;
    // Bytes of memory that the host needs with it: the words of an evaluation, twice; the words and the cells of two
    // reports; the density. Throws as the constructor does
    static double host_memory(int64_t sites, int64_t resolution, bool constant_density);

  private:
    int64_t sites_;
    int32_t resolution_;
    Flooding flooding_;
    Levels levels_;
    Place::Space space_ = Place::Space::host;
    std::unique_ptr<Evaluator> evaluator_;
};

} // namespace cudaopt::cvt
