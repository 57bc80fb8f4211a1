// The generalized Cauchy point: the first local minimiser of the quadratic model along the projected steepest-descent
// path x(t) = P(x - t g) (Byrd, Lu, Nocedal, Zhu 1995, section 4), and the free rows it leaves behind.
//
// Nearly always the minimiser lies before the first breakpoint, and the sums of sweep 1 tell all. Otherwise the rows
// whose breakpoints lie in a window are fetched, sorted, and passed one segment at a time, as in algorithm CP. Where
// more rows are in the window than can be fetched, whole gathers at trial thresholds bisect it: the sums at a
// threshold give the path's slope there at once, however many breakpoints lie before it.
#pragma once

#include <cmath>

#include "lbfgsb/limited_memory.hpp"

namespace cudaopt {

struct CauchyPoint {
    double t = 0;         // t*
    double t_first = 0;   // max(0, min(t_1, t_1*)): the one-breakpoint approximation of Fei et al. (2014)
    double threshold = 0; // free rows: breakpoint > threshold
    double free_rows = 0;
    dense::Vector c; // W'(x_c - x), in the basis
    dense::Vector p; // W'd over the rows still moving at t*, d = -g
    // p and c reduced by M^-1, for the forms p'M p and p'M c.
    dense::Vector p_reduced, c_reduced;
    const double *over_free = nullptr; // the panel's products over the free rows, packed as in PanelSums
    int64_t segments = 0, breakpoints_crossed = 0;
    bool crossed = false; // t lies beyond the first breakpoint
    bool ready = false;   // over_free is that of the free rows
};

class CauchySearch {
  public:
    explicit CauchySearch(int m);
    // sums: of a gather with `panel` at threshold 0, the memory factorised if bounded. approximate: stop at the first
    // breakpoint. False: breakdown, a slope or curvature of the path is not finite; never without pairs.
    bool find(const LimitedMemory &memory, Sweeps &sweeps, const GatherRequest &panel, const PanelSums &sums,
              bool bounded, bool approximate);
    const CauchyPoint &point() const { return point_; }

  private:
    void take_sums(const PanelSums &sums, double threshold);
    void stand_at(const PanelSums &sums, double threshold);
    void own_products();
    void take_off(const CrossedRow &row);
    double minimiser() const { return at_.slope < 0 ? at_.t - at_.slope / at_.curvature : at_.t; }
    bool finite() const {
        return std::isfinite(at_.slope) && std::isfinite(at_.curvature) && std::isfinite(minimiser());
    }
    bool fetch(double lo, double hi);
    void sort_rows();
    bool pass_breakpoints(double no_breakpoint_before);
    bool search_beyond_first_breakpoint(const PanelSums &sums);
    bool bisect(double hi);

    const LimitedMemory *memory_ = nullptr;
    Sweeps *sweeps_ = nullptr;
    GatherRequest panel_{};
    CauchyPoint point_, saved_point_;
    struct PathState { // every breakpoint <= t has been passed; phi', phi'' and d'd just beyond
        double t = 0, slope = 0, curvature = 0, d_squared = 0;
    } at_;
    double least_curvature_ = 0;
    double bracket_ = 0; // the minimiser lies before it
    dense::Vector w_, w_reduced_, entries_;
    dense::Vector products_; // what point_.over_free points to once rows are crossed
    std::vector<CrossedRow> rows_, unsorted_;
    std::vector<int> bucket_ends_;
};

} // namespace cudaopt
