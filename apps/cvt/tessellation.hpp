// The energy of a Voronoi tessellation of the unit square on a grid, as a function to be minimised. Its minimisers are
// centroidal Voronoi tessellations (Du, Faber, Gunzburger, SIAM Review 41 (1999) 637):
//
//     F(x_1, ..., x_k) = sum over pixels p of rho(p) |p - x_i(p)|^2 h^2,    i(p) the site nearest to p,
//
// where rho is the density, and the pixel centres are ((i + 1/2) h, (j + 1/2) h) with h = 1 / resolution. Cell i
// consists of the pixels that are nearest to site i. The gradient is dF/dx_i = 2 m_i (x_i - c_i), where m_i is the mass
// and c_i the centroid of cell i. There are n = 2k variables in the box [0, 1]^n: the coordinates x_0, y_0, x_1, y_1,
// ... of the sites.
//
// Host and CUDA compute bitwise identical results, in each run and for any number of threads.
//
// If sites coincide, only the one with the lowest number has a cell. If many sites lie in one pixel, some may have no
// cell. Sites without a cell have a zero gradient and stay in place. When the other sites move away, more sites have a
// cell in the next evaluation.
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

// The sites and Voronoi cells of one evaluation, in host memory.
struct Cells {
    int32_t resolution = 0;
    // The number of the nearest site for each pixel, row by row from y = 0.
    std::vector<uint32_t> site;
    // The mass m_i of each cell, which is 0 if the cell is empty.
    std::vector<double> mass;
    std::vector<double> x; // the sites
    // The centroid c_i of each cell, in the order x_0, y_0, x_1, ... If a cell is empty, the site itself is stored.
    std::vector<double> centroid;
    // The number of cells without mass.
    int64_t empty = 0;
};

class Tessellation {
  public:
    // Throws std::invalid_argument with a message in three cases: there are no sites or more sites than pixels, the
    // resolution is out of range, or the density is zero at all pixels.
    Tessellation(int64_t sites, int64_t resolution, const Density &density = {});
    Tessellation(int64_t sites, int64_t resolution, const Density &density, Flooding flooding);
    ~Tessellation();

    int64_t sites() const { return sites_; }
    int32_t resolution() const { return resolution_; }
    // Returns the mean mass of a cell: the mass of the square divided by the number of sites.
    double mean_mass() const;

    // Returns random sites, each drawn from the density by rejection sampling. The same seed gives the same sites.
    std::vector<double> random_sites(uint64_t seed) const;

    // Writes the energy F and its gradient to the memory space of x.
    //
    // On CUDA the work is enqueued on the stream, and the function does not wait for it. All evaluations of one
    // tessellation must use the same stream. If place.space differs from that of the last evaluation (host or CUDA), a
    // new evaluator is created. On the host, stop() is called many times per second. After it has returned true, the
    // evaluation ends soon, and f is NaN. Throws std::runtime_error if CUDA fails, or if it is requested but was not
    // built in.
    void evaluate(const double *x, double *f, double *g, const Place &place, const std::function<bool()> &stop = {});
    // Returns the sites and cells of the last evaluation.
    Cells cells() const;

    // Returns the number of iterations of jump flooding per evaluation.
    int passes() const;
    // Returns the number of bytes that an evaluation transfers, if each of its kernels (or loops) reads and writes each
    // element of its arrays once.
    //
    // The array with one word (packing.hpp) of 8 bytes per pixel is written once to clear it. Each iteration of jump
    // flooding reads and writes it, and the computation of the sums reads it once. The array of the density is read
    // once.
    double bytes() const;
    // Returns the number of bytes of host memory that a run needs: two arrays of words (packing.hpp) for evaluations,
    // the words and the cells of the reports at the start and at the end, and the density. Throws the same exceptions
    // as the constructor.
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
