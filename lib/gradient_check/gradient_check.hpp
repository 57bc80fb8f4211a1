// Compares the caller's gradient with differences of f, by reverse communication. It requests evaluations at the base
// point, at a distant point, and twice at the base point again, to see whether g repeats. Then it requests them on both
// sides of the base point along -g and along two random directions, with steps that decrease by factors of 10. If the
// worst component is to be found, evaluations follow along random directions in ever smaller ranges of variables.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "boundary/message.hpp"
#include "exec/cancellation.hpp"
#include "gradient_check/rules.hpp"
#include "gradient_check/slope.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

// The sweeps of a gradient check, which are the operations whose cost is proportional to n. They store two vectors of n
// elements: a copy of the caller's x, and the gradient at the base point. The base point is x moved a little into the
// interior of the box, and the differences of f are taken around it.
class CheckSweeps {
  public:
    virtual ~CheckSweeps() = default;

    // Allocates memory and copies the caller's x.
    virtual void begin(const UserArrays &user, const Resources &resources) = 0;
    // Writes x = base + t d. Returns sums over the variables: of the displacements D_i = x_i - base_i, of their
    // products g_i D_i with the stored gradient g, and of the squares of these products (MoveRecord). The function
    // waits for the result.
    virtual MoveRecord move(const CheckDirection &direction, double t) = 0;
    // Reads the f and g that the caller has supplied. Returns f, the largest |g_i|, the largest difference from a
    // component of the stored gradient, and counts of components (LookRecord). If keep is true, this g then becomes the
    // stored gradient. The function waits for the result.
    virtual LookRecord look(bool keep) = 0;
    virtual void restore_x() = 0;
};

class GradientCheck {
  public:
    struct Result {
        int verdict = 0;        // one of CUDA_OPT_GRADIENT_*
        int64_t component = -1; // the index of the wrong component that was found; -1: none
        double supplied = 0;    // g'd along a direction d, or one component, from the caller's gradient
        double difference = 0;  // the same quantity, computed from differences of f
        double error = 0;       // estimated error of the difference
    };

    GradientCheck(std::unique_ptr<CheckSweeps> sweeps, const UserArrays &arrays, int64_t n, int bits, int64_t seed,
                  bool find_component, int threads, void *stream);

    Result result;
    Message message;

    bool has_arrays(const void *x, const void *f, const void *g) const {
        return x == arrays_.x && f == arrays_.f && g == arrays_.g;
    }
    // Returns the next task: CUDA_OPT_EVALUATE_FG; 0 if the check has ended; or a negative code. Unless it returns a
    // task, it sets the message.
    int resume();

  private:
    enum class Stage { start, at_base, far, back, repeated, plus, minus };
    static constexpr int directions = 3; // -g and two random directions

    int evaluate(double t, Stage stage);
    int begin_direction(int first, int count);
    int next_direction();
    int narrow(const SlopeEstimate &estimate);
    int judge();
    int accept(const SlopeEstimate *unclear);
    int reject(const SlopeEstimate &worst);
    int conclude(int verdict, const SlopeEstimate &estimate);
    int finish(int code);
    void note_precision(const LookRecord &look);
    bool is_wrong(const SlopeEstimate &estimate) const;
    CheckDirection random_direction(int k) const;

    const std::unique_ptr<CheckSweeps> sweeps_;
    const UserArrays arrays_;
    const int64_t n_;
    const bool single_; // whether x has single precision
    const int64_t seed_;
    const bool find_component_;
    const std::atomic<bool> never_stopped_{false};
    CancellationToken cancellation_{never_stopped_};

    Stage stage_ = Stage::start;
    double f_before_ = 0; // f at the base point, one evaluation before base_
    LookRecord base_;
    CheckDirection direction_;
    int direction_count_ = 0;
    MoveRecord moved_{};
    SlopeSample samples_[most_slope_samples]{};
    int sample_count_ = 0, at_sample_ = 0;
    SlopeEstimate estimates_[directions];
    int known_ = 0;
    // points_ counts the points whose gradient differs from that at the base point. single_points_ counts those among
    // them whose gradient is exactly representable in single precision.
    int64_t points_ = 0, single_points_ = 0;
    // True if some component of g has more than 8 binary digits. A gradient of small integers, such as that of a
    // piecewise linear f, would not show its precision.
    bool needs_single_ = false;
    // The bisection that searches for a wrong component. The range of variables from direction_.first to end_ remains,
    // and the current direction is nonzero in its first half. residual_ is the residual along the direction that is
    // nonzero in the whole range. best_sample_ is the index of the step that is used. Before the bisection, end_ is 0.
    int64_t end_ = 0;
    double residual_ = 0;
    int best_sample_ = 0;
};

} // namespace cudaopt
