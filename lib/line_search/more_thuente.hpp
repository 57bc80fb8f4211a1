// The line search of Moré and Thuente, ACM TOMS 20 (1994) 286: a step t with
//
//     phi(t) <= phi(0) + ftol t phi'(0)    (sufficient decrease)    and    |phi'(t)| <= gtol |phi'(0)|    (curvature).
//
// It sees scalars only and evaluates nothing: start() proposes the first step, update() takes phi and phi' there and
// either ends the search or proposes the next. All its state is in the struct. Every step proposed is finite and in
// [step_min, step_max], whatever phi and phi' are, as long as they are finite.
#pragma once

namespace cudaopt {

enum class SearchVerdict {
    evaluate,           // evaluate phi at step() and call update()
    converged,          // both conditions hold
    interval_too_small, // the interval of uncertainty is below xtol: the best step is as good as it gets
    at_minimum_step,    // step() is stpmin and still too long
    at_maximum_step,    // step() is stpmax, with sufficient decrease and phi still falling
    rounding_errors     // no progress is possible within the interval
};

struct SearchTolerances {
    double ftol, gtol, xtol, step_min, step_max;
};

class MoreThuente {
  public:
    // phi(0), phi'(0) < 0, the first step in [step_min, step_max].
    void start(double phi0, double slope0, double first_step, const SearchTolerances &tolerances);
    SearchVerdict update(double phi, double slope);
    // phi is not finite at step(): propose a step nearer to the best one, before any interpolation sees the value,
    // and stay below the failed step from now on.
    void cut();

    double step() const { return step_; }
    // The lowest phi of all updates, and where; phi(0) at 0 before the first.
    double lowest_step() const { return lowest_.step; }
    double lowest_phi() const { return lowest_.phi; }

  private:
    struct Point {
        double step, phi, slope;
    };
    void interpolate(Point &best, Point &other, double phi, double slope, double step_min, double step_max);

    SearchTolerances tolerances_{};
    double phi0_ = 0, slope0_ = 0, step_ = 0;
    Point best_{}, other_{}; // endpoints of the interval of uncertainty; best_ has the least phi, or psi in stage 1
    Point lowest_{};
    double lower_ = 0, upper_ = 0;      // bounds of the next step
    double width_ = 0, last_width_ = 0; // lengths of the interval, now and two updates ago
    bool bracketed_ = false;
    bool modified_ = true; // stage 1: work with psi(t) = phi(t) - phi(0) - ftol t phi'(0)
    bool any_finite_ = false;
};

} // namespace cudaopt
