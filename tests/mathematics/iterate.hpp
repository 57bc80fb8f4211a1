// Random iterates. Each consists of a point in a box, its gradient, and a history after some steps.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "../support/problems.hpp"
#include "lbfgsb/cauchy_point.hpp"
#include "reference.hpp"

namespace mathematics {

using cudaopt_test::Uniform;
using reference::Number;

// A part of the state together with the memory that contains its arrays.
template <class Part> class Placed : public Part {
  public:
    explicit Placed(int m) {
        cudaopt::dense::CountArrays count;
        this->each_array(m, count);
        REQUIRE(count.doubles <= static_cast<int64_t>(std::size(numbers_)));
        std::fill_n(numbers_, count.doubles, 0.0);
        cudaopt::dense::PlaceArrays place{numbers_};
        this->each_array(m, place);
    }

  private:
    double numbers_[1 << 15];
};

enum class Box {
    infinite,  // no finite bounds
    one_sided, // one finite bound per variable, usually in the direction of -g
    boxed,     // breakpoints around the minimiser of the model
    tied,      // few different breakpoints, each exactly the same for many variables
    near,      // all breakpoints before the minimiser
    far,       // all breakpoints after the minimiser
    all_held,  // all variables are active
    some_held, // some variables are active, with breakpoints at 0
    fixed,     // some variables have l = u
    flat,      // some variables have g = 0, inside the box and at bounds
    mixed,
    count
};
inline const char *name_of(Box box) {
    static const char *const names[] = {"infinite",   "one-sided",   "boxed", "tied", "near", "far",
                                        "all active", "some active", "fixed", "flat", "mixed"};
    return names[static_cast<int>(box)];
}

inline double between(double low, double high, Uniform &uniform) { return low + (high - low) * uniform(); }
inline int up_to(int most, Uniform &uniform) { return static_cast<int>(uniform() * (most + 1)); } // 0 .. most
inline double either(double a, double b, Uniform &uniform) { return uniform() < 0.5 ? a : b; }

struct Shape {
    int n, m, steps; // steps before this iterate; if there are more than m, the oldest pairs are dropped
    bool weighted, fresh;
    double g_scale, x_scale;
    // If weighted: theta is computed from the newest pair, as for a learned diagonal; otherwise theta = 1.
    bool own_theta = false;
    int kept = 0;          // this number of last steps is appended without a change of the weights
    bool y_scaled = false; // the vectors y of the model are multiples of the differences of gradients
};
inline Shape random_shape(Uniform &uniform) {
    Shape shape{};
    shape.n = 1 + up_to(23, uniform);
    shape.m = 1 + up_to(7, uniform);
    shape.steps = up_to(2 * shape.m, uniform);
    shape.fresh = shape.steps > 0 && uniform() < 0.5;
    shape.g_scale = std::ldexp(1.0, up_to(52, uniform) - 26);
    shape.x_scale = std::ldexp(1.0, up_to(52, uniform) - 26);
    shape.y_scaled = uniform() < 0.5;
    return shape;
}

class Iterate {
  public:
    Iterate(Box box, const Shape &shape, Uniform &uniform)
        : machine(shape.n, shape.m, 64, 64), memory(shape.m), middle(shape.m), shape_(shape) {
        memory.drop_pairs(false);
        draw_point(box, uniform);
        for (int k = 0; k < shape.steps; k++) {
            if (k > 0 && k == shape.steps - shape.kept) weigh(stored(false));
            take_step(k == shape.steps - 1, uniform);
        }
        panel = stored(shape.fresh);
        if (shape.steps == 0) memory.set_scale((shape.weighted ? 1 : curvature()) * between(0.5, 4, uniform));
        draw_box(box, uniform);
        if (box == Box::infinite) machine.lower.clear(), machine.upper.clear();
        if (shape.kept == 0 || shape.steps <= shape.kept) weigh(panel_at_start());
        else take_free(panel_at_start());
    }

    // The model of this iterate, in the variables scaled by the diagonal if there is one.
    reference::Pairs pairs() const {
        reference::Pairs pairs = machine.pairs(panel, steps);
        for (std::size_t j = 0; j < pairs.size(); j++)
            for (Number &v : pairs[j].y) v *= y_scales[y_scales.size() - pairs.size() + j];
        return pairs;
    }
    double theta() const { return memory.theta(); }
    reference::Matrix hessian() const {
        return reference::recursive_hessian(pairs(), theta(), static_cast<int>(machine.n));
    }
    // The panel of the products from which the model is formed.
    cudaopt::PanelRequest panel_at_start() const {
        cudaopt::PanelRequest at_start = panel;
        at_start.threshold = 0;
        at_start.free_gram = bounded() || panel.weighted;
        return at_start;
    }
    bool bounded() const { return !machine.lower.empty(); }
    // Forms the products of the pairs again with the weights of the diagonal.
    void weigh(cudaopt::PanelRequest of) {
        if (!shape_.weighted || (shape_.own_theta && memory.pairs() == 0)) return;
        of.older_steps = true;
        memory.rescale_products(machine.inner_products(of).sums, shape_.own_theta ? 0 : 1, weights);
        take_free(of);
    }
    void take_free(const cudaopt::PanelRequest &of) { memory.load_free_yy(machine.inner_products(of).sums); }
    // Factorises M^-1 as the state machine does.
    bool factor() { return memory.factor(middle); }

    reference::Machine machine;
    Placed<cudaopt::CompactMatrix<0>> memory;
    Placed<cudaopt::CompactMatrix<0>::Factors> middle;
    cudaopt::PanelRequest panel{};
    std::vector<double> steps, y_scales; // of all pairs so far, oldest first

  private:
    static constexpr int64_t weights = 3;

    cudaopt::PanelRequest stored(bool fresh) const {
        cudaopt::PanelRequest request = memory.stored_panel();
        request.fresh = fresh;
        request.weighted = shape_.weighted;
        return request;
    }
    double curvature() const { return shape_.g_scale / shape_.x_scale; }

    // If breakpoints are to be bitwise equal, g consists of powers of two and x has few binary digits.
    void draw_point(Box box, Uniform &uniform) {
        for (double &x : machine.x)
            x = shape_.x_scale * (box == Box::tied ? up_to(64, uniform) / 16.0 - 2 : between(-2, 2, uniform));
        for (double &g : machine.g) {
            const double size = box == Box::tied ? std::ldexp(1.0, up_to(3, uniform) - 2) : between(0.1, 2, uniform);
            g = shape_.g_scale * either(-size, size, uniform);
            if (box == Box::flat && uniform() < 0.5) g = 0;
        }
        if (!shape_.weighted) return;
        for (int64_t i = 0; i < machine.n; i++)
            machine.diagonal.push_back(std::ldexp(1.0, up_to(4, uniform) - 2) / curvature());
    }

    // Writes d and g_base to the spare slot and then forms y = g - g_base. The function is a quadratic that changes a
    // little from step to step.
    void take_step(bool last, Uniform &uniform) {
        const auto n = static_cast<std::size_t>(machine.n);
        const std::vector<double> g_here = machine.g;
        const int spare = memory.spare_slot();
        const double step = std::ldexp(between(0.5, 1, uniform), up_to(12, uniform) - 6);
        double along = 0;
        std::vector<double> d(n);
        for (double &v : d) {
            v = shape_.x_scale * between(-1, 1, uniform) / step;
            along += v / std::sqrt(static_cast<double>(n));
        }
        for (std::size_t i = 0; i < n; i++) {
            const double y = curvature() * step * (between(0.5, 4, uniform) * d[i] + along / static_cast<double>(n));
            if (!last) machine.g[i] = shape_.g_scale * between(-1, 1, uniform);
            machine.s[spare][i] = d[i];
            machine.y[spare][i] = machine.g[i] - y;
        }
        cudaopt::PanelRequest tentative = memory.tentative_panel();
        tentative.weighted = memory.weights() == weights;
        const reference::Products products = machine.inner_products(tentative);
        const bool curved = products.sums.over_all(0, 1) > 0;
        if (curved) {
            steps.push_back(step);
            y_scales.push_back(shape_.y_scaled ? between(0.5, 2, uniform) : 1);
            memory.append(products.sums, step, memory.weights(), y_scales.back(), true);
        } else {
            shape_.fresh = shape_.fresh && !last;
        }
        if (curved && !(last && shape_.fresh))
            for (std::size_t i = 0; i < n; i++) machine.y[spare][i] = machine.g[i] - machine.y[spare][i];
        machine.g = g_here;
    }

    void draw_box(Box box, Uniform &uniform) {
        machine.lower.assign(machine.x.size(), -reference::infinity);
        machine.upper.assign(machine.x.size(), reference::infinity);
        for (int64_t i = 0; i < machine.n; i++) {
            const auto all = static_cast<int>(Box::count) - 2;
            draw_bounds(box == Box::mixed ? static_cast<Box>(up_to(all, uniform)) : box, i, uniform);
        }
    }

    void draw_bounds(Box box, int64_t i, Uniform &uniform) {
        const double x = machine.x[i], g = machine.g[i], slope = machine.weight(panel, i) * g;
        const double minimiser = shape_.weighted ? 1 : 1 / curvature(),
                     room = shape_.x_scale * between(0.1, 2, uniform);
        double t = minimiser * between(0.01, 1.5, uniform);
        double &ahead = g > 0 ? machine.lower[i] : machine.upper[i],
               &behind = g > 0 ? machine.upper[i] : machine.lower[i];
        const double backward = g > 0 ? x + room : x - room;
        switch (box) {
        case Box::infinite: return;
        case Box::one_sided: (uniform() < 0.7 ? ahead : behind) = g == 0 ? x + room : x - t * slope; break;
        case Box::tied: t = minimiser * (1 + up_to(3, uniform)) / 8; [[fallthrough]];
        case Box::boxed: ahead = x - t * slope, behind = backward; break;
        case Box::near: ahead = x - 0.01 * t * slope, behind = backward; break;
        case Box::far: ahead = x - 1e3 * t * slope, behind = backward; break;
        case Box::some_held:
            if (uniform() < 0.5) return draw_bounds(Box::boxed, i, uniform);
            [[fallthrough]];
        case Box::all_held: ahead = x, behind = backward; break;
        case Box::fixed:
            if (uniform() < 0.5) return draw_bounds(Box::boxed, i, uniform);
            ahead = behind = x;
            break;
        case Box::flat:
            if (g != 0) return draw_bounds(Box::boxed, i, uniform);
            machine.lower[i] = either(x, x - room, uniform),
            machine.upper[i] = either(x + room, reference::infinity, uniform);
            break;
        case Box::mixed:
        case Box::count: break;
        }
        if (machine.lower[i] > machine.upper[i]) std::swap(machine.lower[i], machine.upper[i]);
    }

    Shape shape_;
};

} // namespace mathematics
