// Ginzburg-Landau in two dimensions: a superconductor in a magnetic field that enters it in N vortices. The unknowns
// are the complex order parameter psi and the vector potential (A, B) at the nx x ny points of one periodic cell
// D = (0, 3 sqrt(N/2)) x (0, 3 sqrt(3 N/2)):
//
//     f = 1/|D| integral over D of -|psi|^2 + |psi|^4 / 2 + |(grad - i (A, B)) psi|^2 + kappa^2 |curl (A, B)|^2
//
// On the grid, f is the sum over its points, divided by nx ny, of
//
//     -|psi|^2 + |psi|^4 / 2 + |psi_right - e^{i hx A} psi|^2 / hx^2 + |psi_above - e^{i hy B} psi|^2 / hy^2
//                            + kappa^2 ((B_right - B) / hx - (A_above - A) / hy)^2
//
// Beyond the cell the variables are continued as follows. Upwards and downwards all variables are periodic. One cell to
// the right, the phase of psi is larger by 2 pi N y / height and B is larger by 2 pi N / height, so that N quanta of
// flux pass through the cell. One cell to the left, both are smaller by the same amounts.
// The variables are Re psi, Im psi, A and B, each stored as a grid row by row, so that n = 4 nx ny. An evaluation loads
// one value per variable from memory and stores one. It computes four sines and cosines per point, half of which the
// point's neighbours compute as well.
//
// Parameters: kappa > 0, the Ginzburg-Landau constant, by default 5; the number N of vortices, by default 8.
// Start: psi = 1 - (sin(sqrt(N) pi x / 6) sin(sqrt(N) pi y / (6 sqrt 3)))^2, A = 0, B = 2 pi N x / |D|.
// Source: Averick, Carter, More, Xue, The MINPACK-2 Test Problem Collection, MCS-P153-0692 (1992); Garner, Spanbauer,
// Benedek, Strandburg, Wright, Plassmann, Physical Review B 45 (1992) 7973.
#pragma once

#include "testfuncs/angle.hpp"
#include "testfuncs/function.hpp"
#include "testfuncs/grid.hpp"

namespace cudaopt::testfuncs {

struct GinzburgLandau2d : Defaults {
    static Facts facts() {
        return {"ginzburg-landau-2d",
                "Ginzburg-Landau in two dimensions",
                "mean over a periodic cell of -|psi|^2 + |psi|^4 / 2 + |(grad - i A) psi|^2 + kappa^2 |curl A|^2",
                "1 - (sin sin)^2, a constant field",
                "16.22987 on 100 x 100 points with kappa = 5 and 8 vortices, the lowest found",
                "4 variables at each point of a grid, the nearest square one to n / 4",
                "MINPACK-2, MCS-P153-0692 (1992)",
                with_sides({{"kappa", 5, 0, INFINITY, "Ginzburg-Landau constant"},
                            {"vortices", 8, 0, 1e9, "quanta of flux through the cell"}})};
    }
    static Dimension fit(int64_t n, const Parameters &p) {
        const double vortices = p.at("vortices");
        if (vortices != std::floor(vortices)) return {0, "vortices must be a whole number, not " + text_of(vortices)};
        return fit_grid(n, p, 4);
    }
    GinzburgLandau2d(int64_t n, const Parameters &p)
        : n(n), grid(grid_of(n, p, 4)), kappa(p.at("kappa")), vortices(p.at("vortices")),
          width(3 * std::sqrt(vortices / 2)), height(width * std::sqrt(3.)), hx(width / static_cast<double>(grid.nx)),
          hy(height / static_cast<double>(grid.ny)) {}

    double start(int64_t k) const {
        const int64_t field = k / grid.points(), point = k % grid.points();
        const double x = static_cast<double>(grid.column(point)) * hx, y = static_cast<double>(grid.row(point)) * hy;
        const double frequency = std::sqrt(vortices) * pi / 6;
        if (field == 0) return 1 - square(std::sin(frequency * x) * std::sin(frequency * y / std::sqrt(3.)));
        return field == 3 ? 2 * pi * vortices * x / (width * height) : 0;
    }
    std::string shape() const { return grid.text() + " points with 4 variables each"; }

    struct Complex {
        double re, im;
        CUDA_OPT_HD Complex operator-(const Complex &z) const { return {re - z.re, im - z.im}; }
        CUDA_OPT_HD double squared_modulus() const { return re * re + im * im; }
    };
    CUDA_OPT_HD static Complex advanced(const Complex &z, const Angle &phase) {
        return {z.re * phase.cos - z.im * phase.sin, z.re * phase.sin + z.im * phase.cos};
    }
    CUDA_OPT_HD static Complex set_back(const Complex &z, const Angle &phase) {
        return {z.re * phase.cos + z.im * phase.sin, z.im * phase.cos - z.re * phase.sin};
    }

    template <class Real> struct Point {
        const Real *x;
        Real *g;
        Grid grid;
        double hx, hy, kappa_squared, quanta; // quanta: 2 pi N

        CUDA_OPT_HD double variable(int field, int64_t i, int64_t j) const {
            return x[(field * grid.ny + j) * grid.nx + i];
        }
        CUDA_OPT_HD Complex psi(int64_t i, int64_t j) const { return {variable(0, i, j), variable(1, i, j)}; }
        CUDA_OPT_HD double A(int64_t i, int64_t j) const { return variable(2, i, j); }
        CUDA_OPT_HD double B(int64_t i, int64_t j) const { return variable(3, i, j); }

        CUDA_OPT_HD void operator()(int64_t k, Sum &f) const {
            const int64_t i = grid.column(k), j = grid.row(k);
            const bool leftmost = i == 0, rightmost = i == grid.nx - 1;
            const int64_t left = leftmost ? grid.nx - 1 : i - 1, right = rightmost ? 0 : i + 1;
            const int64_t below = j == 0 ? grid.ny - 1 : j - 1, above = j == grid.ny - 1 ? 0 : j + 1;
            const double jump = quanta / (static_cast<double>(grid.ny) * hy);
            const double jump_left = leftmost ? jump : 0, jump_right = rightmost ? jump : 0;

            const Complex here = psi(i, j);
            Complex on_left = psi(left, j), on_right = psi(right, j);
            if (leftmost || rightmost) {
                const Angle phase(quanta * static_cast<double>(j) / static_cast<double>(grid.ny));
                on_left = leftmost ? set_back(on_left, phase) : on_left;
                on_right = rightmost ? advanced(on_right, phase) : on_right;
            }
            const double a = A(i, j), a_left = A(left, j), a_below = A(i, below);
            const double b = B(i, j), b_below = B(i, below);

            // The terms of f that couple neighbouring points, here called links: to the right and upwards at this
            // point, and from the left and from below.
            const Complex from_right = set_back(on_right, Angle(hx * a));
            const Complex from_above = set_back(psi(i, above), Angle(hy * b));
            const Complex to_right = from_right - here, upwards = from_above - here;
            const Complex to_left = advanced(on_left, Angle(hx * a_left)) - here;
            const Complex downwards = advanced(psi(i, below), Angle(hy * b_below)) - here;

            const double per_hx = 1 / hx, per_hy = 1 / hy;
            const double field = (B(right, j) + jump_right - b) * per_hx - (A(i, above) - a) * per_hy;
            const double field_left = (b - B(left, j) + jump_left) * per_hx - (A(left, above) - a_left) * per_hy;
            const double field_below = (B(right, below) + jump_right - b_below) * per_hx - (a - a_below) * per_hy;

            const double density = here.squared_modulus(), share = 1 / static_cast<double>(grid.points());
            f.add(share * (density * (density / 2 - 1) + to_right.squared_modulus() * square(per_hx) +
                           upwards.squared_modulus() * square(per_hy) + kappa_squared * square(field)));

            // Each link contributes |z - psi|^2 with z = e^{-i h A} psi_right to f. Its derivative with respect to psi
            // is -2 (z - psi), and its derivative with respect to A is -2 h Im(conj(psi) z).
            const double across = square(per_hx), along = square(per_hy), condensation = density - 1;
            const double current_x = here.re * from_right.im - here.im * from_right.re;
            const double current_y = here.re * from_above.im - here.im * from_above.re;
            const auto store = [&](int which, double half_slope) {
                g[(which * grid.ny + j) * grid.nx + i] = static_cast<Real>(2 * share * half_slope);
            };
            const Complex bent = {across * (to_right.re + to_left.re) + along * (upwards.re + downwards.re),
                                  across * (to_right.im + to_left.im) + along * (upwards.im + downwards.im)};
            store(0, condensation * here.re - bent.re);
            store(1, condensation * here.im - bent.im);
            store(2, kappa_squared * (field - field_below) * per_hy - current_x * per_hx);
            store(3, kappa_squared * (field_left - field) * per_hx - current_y * per_hy);
        }
    };

    template <class Executor, class Real> void evaluate(Executor &on, const Real *x, double *f, Real *g) const {
        on.template map_reduce<Sum>(grid.points(), Point<Real>{x, g, grid, hx, hy, square(kappa), 2 * pi * vortices},
                                    StoreSum{f});
    }

    int64_t n;
    Grid grid;
    double kappa, vortices, width, height, hx, hy;
};

} // namespace cudaopt::testfuncs
