// Inhomogeneous superconductors: the order parameter v of alternating layers of lead and tin at temperature T, without
// a magnetic field, minimises the Ginzburg-Landau energy
//
//     f(v) = integral over (-d, d) of alpha v^2 + beta v^4 / 2 + gamma (dv/dx)^2,   v(-d) = v(d),
//
// with lead in |x| < 1 and tin in 1 < |x| < d = 3.2, in units of 1000 Angstroms. v is discretised by n piecewise linear
// elements: n/4 in each of the two layers of tin, and the others in the lead. Because of periodicity, v_{n+1} = v_1 =
// v(-d). The element between the nodes with values a = v_i and b = v_{i+1} contributes
//
//     h (alpha / 3 (a^2 + a b + b^2) + beta / 10 (a^4 + a^3 b + a^2 b^2 + a b^3 + b^4)) + gamma / h (a - b)^2
//
// The material's constants at T follow from those at 0 K, with t = T / T_c and k = (e/c)^2 / m, in CGS units:
//
//     alpha = -2 k H_c^2 D^2 (1 - t^2) / (1 + t^2),   beta = 16 pi k^2 H_c^2 D^4 / (1 + t^2)^2,   gamma = hbar^2 / 4 m
//
// where H_c is the critical field and D the penetration depth. The problem is hard: gamma is about a hundred times as
// large as alpha, v at the solution is about ten thousand times as large as at the start, and the condition number
// grows like n^2. An evaluation loads one value per variable from memory and stores one.
//
// Parameter: 3.73 < t < 7.32, the temperature in Kelvin, between the critical ones of tin and of lead; by default 5.
// Start: sqrt((beta_lead + beta_tin) / (2 (|alpha_lead| + |alpha_tin|))) everywhere.
// Source: Averick, Carter, More, Xue, The MINPACK-2 Test Problem Collection, MCS-P153-0692 (1992); Garner, Benedek,
// Physical Review B 42 (1990) 376.
#pragma once

#include "testfuncs/function.hpp"

namespace cudaopt::testfuncs {

struct GinzburgLandau1d : Defaults {
    // The critical temperatures of tin and of lead in Kelvin.
    static constexpr double t_tin = 3.73, t_lead = 7.32;

    static Facts facts() {
        return {"ginzburg-landau-1d",
                "Inhomogeneous superconductors: Ginzburg-Landau in one dimension",
                "integral over (-d, d) of alpha v^2 + beta v^4 / 2 + gamma (dv/dx)^2, v periodic",
                "the same small number everywhere",
                "-8456.192 with t = 5 and n of 1,000 or more, the lowest found",
                "n of at least 4",
                "MINPACK-2, MCS-P153-0692 (1992)",
                {{"t", 5, t_tin, t_lead, "temperature"}}};
    }
    static Dimension fit(int64_t n, const Parameters &) {
        return n < 4 ? Dimension{0, "n must be at least 4, not " + std::to_string(n)} : Dimension{n, ""};
    }

    // The constants of a layer of tin or lead, in units of 10^-6 cm. With these units v is dimensionless.
    struct Material {
        double alpha, beta;
        Material(double temperature, double critical_temperature, double critical_field, double depth) {
            constexpr double e_over_c = 4.80e-10 / 2.99e10, k = e_over_c * e_over_c / electron_mass;
            const double t = square(temperature / critical_temperature);
            alpha = -2 * k * square(critical_field * depth) * (1 - t) / (1 + t) * 1e18;
            beta = 16 * pi * square(k * critical_field * square(depth) / (1 + t)) * 1e36;
        }
        static constexpr double electron_mass = 9.11e-28;
    };
    static constexpr double gamma = 1.05459e-27 * 1.05459e-27 / (4 * Material::electron_mass) * 1e30;

    GinzburgLandau1d(int64_t n, const Parameters &p)
        : n(n), lead(p.at("t"), t_lead, 803, 3.7e-6), tin(p.at("t"), t_tin, 309, 3.4e-6) {}

    double start(int64_t) const {
        return std::sqrt((lead.beta + tin.beta) / (2 * (std::fabs(lead.alpha) + std::fabs(tin.alpha))));
    }

    // The factors in the energy of an element that lies in one layer (see the formula at the beginning of the file).
    struct Layer {
        // The factors h alpha / 3, h beta / 10 and gamma / h in the formula of an element's energy.
        double second, fourth, slope;

        Layer(const Material &material, double h)
            : second(h * material.alpha / 3), fourth(h * material.beta / 10), slope(gamma / h) {}
        CUDA_OPT_HD double energy(double a, double b) const {
            const double aa = a * a, ab = a * b, bb = b * b;
            return second * (aa + ab + bb) + fourth * (aa * (aa + ab + bb) + bb * (ab + bb)) + slope * square(a - b);
        }
        // Returns the derivative of the element's energy with respect to a, its value at one of the two nodes.
        CUDA_OPT_HD double derivative(double a, double b) const {
            return second * (2 * a + b) + fourth * (((4 * a + 3 * b) * a + 2 * b * b) * a + b * b * b) +
                   2 * slope * (a - b);
        }
    };

    template <class Real> struct Node {
        const Real *v;
        Real *g;
        int64_t n;
        Layer lead, tin;

        // Returns the layer that contains the element between nodes i and i + 1.
        CUDA_OPT_HD const Layer &layer(int64_t i) const { return i < n / 4 || i >= n - n / 4 ? tin : lead; }
        CUDA_OPT_HD void operator()(int64_t i, Sum &f) const {
            const int64_t before = i > 0 ? i - 1 : n - 1, after = i < n - 1 ? i + 1 : 0;
            const double here = v[i], left = v[before], right = v[after];
            f.add(layer(i).energy(here, right));
            g[i] = static_cast<Real>(layer(i).derivative(here, right) + layer(before).derivative(here, left));
        }
    };

    template <class Executor, class Real> void evaluate(Executor &on, const Real *x, double *f, Real *g) const {
        const int64_t in_tin = n / 4, in_lead = n - 2 * in_tin;
        const double h_tin = 2.2 / static_cast<double>(in_tin), h_lead = 2 / static_cast<double>(in_lead);
        on.template map_reduce<Sum>(n, Node<Real>{x, g, n, Layer(lead, h_lead), Layer(tin, h_tin)}, StoreSum{f});
    }

    int64_t n;
    Material lead, tin;
};

} // namespace cudaopt::testfuncs
