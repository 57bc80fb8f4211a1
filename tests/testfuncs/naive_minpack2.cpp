#include "naive_minpack2.hpp"

#include <cmath>
#include <complex>
#include <functional>
#include <stdexcept>

namespace {

using Real = long double;
using Vector = std::vector<double>;
const Real pi = std::acos(Real(-1));

Real sq(Real a) { return a * a; }

// A function on the nodes of a mesh, those of the boundary included: node (i, j), 0 <= i <= nx + 1, 0 <= j <= ny + 1.
struct Mesh {
    int64_t nx, ny;
    Real x0, y0, hx, hy;
    std::function<Real(int64_t i, int64_t j)> v;

    Mesh(int64_t nx, int64_t ny, Real x0, Real y0, Real width, Real height, const Vector &values,
         std::function<Real(Real x, Real y)> boundary)
        : nx(nx), ny(ny), x0(x0), y0(y0), hx(width / (nx + 1)), hy(height / (ny + 1)) {
        v = [=](int64_t i, int64_t j) -> Real {
            const bool inside = 1 <= i && i <= nx && 1 <= j && j <= ny;
            return inside ? values[(j - 1) * nx + i - 1] : boundary(x0 + i * hx, y0 + j * hy);
        };
    }

    // The sum over all triangles of their area times the mean over their corners of integrand(x, v, |grad v|^2).
    Real integral(const std::function<Real(Real x, Real v, Real q)> &integrand) const {
        Real sum = 0;
        for (int64_t j = 0; j <= ny; j++)
            for (int64_t i = 0; i <= nx; i++) {
                const Real a = v(i, j), b = v(i + 1, j), c = v(i, j + 1), d = v(i + 1, j + 1);
                const Real left = x0 + i * hx, right = left + hx;
                const Real below = sq((b - a) / hx) + sq((c - a) / hy), above = sq((d - c) / hx) + sq((d - b) / hy);
                sum += integrand(left, a, below) + integrand(right, b, below) + integrand(left, c, below);
                sum += integrand(right, d, above) + integrand(right, b, above) + integrand(left, c, above);
            }
        return sum * hx * hy / 2 / 3;
    }
};

Real zero(Real, Real) { return 0; }

// Enneper's surface over (x, y), its parameters by a fixed point.
Real enneper(Real x, Real y) {
    Real p = x, q = -y;
    for (int step = 0; step < 3000; step++) {
        const Real p_next = x - p * q * q + p * p * p / 3, q_next = -y - p * p * q + q * q * q / 3;
        p = (p + p_next) / 2;
        q = (q + q_next) / 2;
    }
    return p * p - q * q;
}

Real psi(Real t, Real lambda) {
    const Real mu1 = 1, mu2 = 2;
    const Real t1 = std::sqrt(2 * lambda * mu1 / mu2), t2 = std::sqrt(2 * lambda * mu2 / mu1);
    if (t <= t1) return mu2 * t * t / 2;
    return t <= t2 ? mu2 * t1 * (t - t1 / 2) : mu1 * t * t / 2 + lambda * (mu2 - mu1);
}

// By Gauss's rule with three points, which is exact for the fourth powers of linear functions.
Real superconductor_1d(const Vector &v, Real temperature) {
    const Real mass = 9.11e-28L, light = 2.99e10L, charge = 4.80e-10L, planck = 1.05459e-27L;
    const Real unit = 1e-6L; // cm
    const auto n = static_cast<int64_t>(v.size());
    const Real gamma = planck * planck / (4 * mass) / std::pow(unit, 5);
    const Real k = sq(charge / light) / mass;

    Real f = 0;
    for (int64_t e = 0; e < n; e++) {
        const bool tin = e < n / 4 || e >= n - n / 4;
        const Real critical = tin ? 3.73L : 7.32L, field = tin ? 309 : 803, depth = tin ? 3.4e-6L : 3.7e-6L;
        const Real t2 = sq(temperature / critical);
        const Real alpha = -2 * k * sq(field) * sq(depth) * (1 - t2) / (1 + t2) / std::pow(unit, 3);
        const Real beta = 16 * pi * sq(k) * sq(field) * sq(sq(depth)) / sq(1 + t2) / std::pow(unit, 6);
        const Real h = tin ? 2.2L / (n / 4) : Real(2) / (n - 2 * (n / 4));
        const Real a = v[e], b = v[(e + 1) % n];
        for (int node = -1; node <= 1; node++) {
            const Real s = Real(0.5) + node * std::sqrt(Real(0.6)) / 2, weight = node == 0 ? 4 / Real(9) : 5 / Real(18);
            const Real here = a + s * (b - a);
            f += weight * h * (alpha * sq(here) + beta * sq(sq(here)) / 2 + gamma * sq((b - a) / h));
        }
    }
    return f;
}

// On a copy of the cell that is one point wider and higher.
Real superconductor_2d(int64_t nx, int64_t ny, const Vector &x, Real kappa, Real vortices) {
    const Real width = 3 * std::sqrt(vortices / 2), height = width * std::sqrt(Real(3));
    const Real hx = width / nx, hy = height / ny;
    const std::complex<Real> i_unit(0, 1);
    struct Node {
        std::complex<Real> psi;
        Real a, b;
    };
    const auto node = [&](int64_t i, int64_t j) {
        const int64_t point = j % ny * nx + i % nx, points = nx * ny;
        Node found{{x[point], x[points + point]}, x[2 * points + point], x[3 * points + point]};
        if (i == nx) {
            found.psi *= std::exp(i_unit * (2 * pi * vortices * (j * hy) / height));
            found.b += 2 * pi * vortices / height;
        }
        return found;
    };

    Real f = 0;
    for (int64_t j = 0; j < ny; j++)
        for (int64_t i = 0; i < nx; i++) {
            const Node here = node(i, j), right = node(i + 1, j), above = node(i, j + 1);
            const Real density = std::norm(here.psi);
            const Real curl = (right.b - here.b) / hx - (above.a - here.a) / hy;
            f += -density + density * density / 2 + sq(kappa * curl);
            f += std::norm((right.psi - std::exp(i_unit * (hx * here.a)) * here.psi) / hx);
            f += std::norm((above.psi - std::exp(i_unit * (hy * here.b)) * here.psi) / hy);
        }
    return f / (nx * ny);
}

Real cluster(int dimensions, const Vector &x) {
    const auto atoms = static_cast<int64_t>(x.size()) / dimensions;
    Real f = 0;
    for (int64_t a = 0; a < atoms; a++)
        for (int64_t b = 0; b < a; b++) {
            Real r2 = 0;
            for (int axis = 0; axis < dimensions; axis++)
                r2 += sq(Real(x[dimensions * a + axis]) - x[dimensions * b + axis]);
            const Real r = std::sqrt(r2);
            f += std::pow(r, -12) - 2 * std::pow(r, -6);
        }
    return f;
}

} // namespace

long double naive_minpack2(const std::string &name, int64_t nx, int64_t ny, const std::vector<double> &x,
                           std::map<std::string, double> p) {
    p.insert({{"c", 5}, {"epsilon", 0.1}, {"b", 10}, {"t", 5}, {"kappa", 5}, {"vortices", 8}});
    p.insert({"lambda", name == "combustion" ? 5 : 0.008});
    const Real c = p["c"], epsilon = p["epsilon"], lambda = p["lambda"];

    const auto unit_square = [&] { return Mesh(nx, ny, 0, 0, 1, 1, x, zero); };
    if (name == "torsion") return unit_square().integral([=](Real, Real v, Real q) { return q / 2 - c * v; });
    if (name == "combustion")
        return unit_square().integral([=](Real, Real v, Real q) { return q / 2 - lambda * std::exp(v); });
    if (name == "optimal-design")
        return unit_square().integral([=](Real, Real v, Real q) { return psi(std::sqrt(q), lambda) + v; });
    if (name == "minimal-surface")
        return Mesh(nx, ny, -0.5L, -0.5L, 1, 1, x, enneper).integral([](Real, Real, Real q) {
            return std::sqrt(1 + q);
        });
    if (name == "bearing")
        return Mesh(nx, ny, 0, 0, 2 * pi, 2 * p["b"], x, zero).integral([=](Real angle, Real v, Real q) {
            return std::pow(1 + epsilon * std::cos(angle), 3) * q / 2 - epsilon * std::sin(angle) * v;
        });
    if (name == "ginzburg-landau-1d") return superconductor_1d(x, p["t"]);
    if (name == "ginzburg-landau-2d") return superconductor_2d(nx, ny, x, p["kappa"], p["vortices"]);
    if (name == "lennard-jones-2d" || name == "lennard-jones-3d") return cluster(name == "lennard-jones-2d" ? 2 : 3, x);
    throw std::invalid_argument(name);
}
