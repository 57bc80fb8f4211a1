// Solves A_FF z = v_F, where A is the five-point Laplacian on a square grid and F is a set of free points: conjugate
// gradients, preconditioned by one V-cycle of multigrid, until ||A_FF z - v_F|| <= tolerance ||v_F||.
//
// The coarse grid has every second point of each row and column. The interpolation P is linear, and 0 at points that
// are not free. The coarse matrix is P'AP, whose rows have nine entries. The smoother is one sweep of Gauss-Seidel,
// forward before the coarse correction and backward after it, so that the V-cycle is symmetric.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace cudaopt::bench {

class Multigrid {
    using Vector = std::vector<double>;

  public:
    explicit Multigrid(int side) {
        for (int s = side; s > 0; s = s > 3 ? s / 2 : 0) levels_.emplace_back(s);
        r_.resize(levels_[0].points()), p_ = z_ = ap_ = r_;
    }

    // The cycles of the last solve.
    int cycles() const { return cycles_; }

    // Sets F, the points where is_free is not 0. If F is that of the last call, nothing is done.
    void set_free(const Vector &is_free) {
        if (is_free == is_free_) return;
        is_free_ = is_free;
        Level &finest = levels_[0];
        for (int i = 0; i < finest.side; i++)
            for (int j = 0; j < finest.side; j++) finest.stencil[finest.at(i, j)] = laplacian(i, j);
        for (std::size_t l = 0; l + 1 < levels_.size(); l++) coarsen(levels_[l], levels_[l + 1]);
    }

    // z <- A_FF^-1 v_F on F, and 0 elsewhere. v is 0 elsewhere.
    void solve(const Vector &v, Vector &z, double tolerance) {
        std::fill(z.begin(), z.end(), 0.0);
        r_ = v;
        const double enough = tolerance * tolerance * dot(r_, r_);
        double rz = 0;
        for (cycles_ = 0; dot(r_, r_) > enough && cycles_ < most_cycles; cycles_++) {
            cycle(r_, z_);
            const double before = rz;
            rz = dot(r_, z_);
            const double beta = cycles_ > 0 ? rz / before : 0;
            for (std::size_t k = 0; k < p_.size(); k++) p_[k] = z_[k] + beta * p_[k];
            multiply(levels_[0], p_, ap_);
            const double step = rz / dot(p_, ap_);
            for (std::size_t k = 0; k < p_.size(); k++) z[k] += step * p_[k], r_[k] -= step * ap_[k];
        }
    }
    // z <- one V-cycle that starts from 0, an approximation of A_FF^-1 v_F.
    void cycle(const Vector &v, Vector &z) {
        levels_[0].right = v;
        descend(0);
        z = levels_[0].value;
    }

  private:
    static constexpr int most_cycles = 100;
    using Stencil = std::array<double, 9>; // entry 3 (di + 1) + dj + 1 belongs to the neighbour (i + di, j + dj)

    struct Level {
        explicit Level(int side_)
            : side(side_), stencil(points()), value(points()), right(points()), residual(points()) {}
        std::size_t points() const { return static_cast<std::size_t>(side) * static_cast<std::size_t>(side); }
        std::size_t at(int i, int j) const {
            return static_cast<std::size_t>(i) * static_cast<std::size_t>(side) + static_cast<std::size_t>(j);
        }
        bool has(int i, int j) const { return i >= 0 && j >= 0 && i < side && j < side; }
        bool is_free(std::size_t k) const { return stencil[k][4] > 0; }
        int side;
        std::vector<Stencil> stencil;
        Vector value, right, residual;
    };

    static double dot(const Vector &a, const Vector &b) {
        double sum = 0;
        for (std::size_t k = 0; k < a.size(); k++) sum += a[k] * b[k];
        return sum;
    }

    Stencil laplacian(int i, int j) const {
        const Level &finest = levels_[0];
        Stencil row{};
        if (is_free_[finest.at(i, j)] == 0) return row;
        row[4] = 4;
        const auto neighbour = [&](int di, int dj) {
            if (finest.has(i + di, j + dj) && is_free_[finest.at(i + di, j + dj)] != 0) row[3 * (di + 1) + dj + 1] = -1;
        };
        neighbour(-1, 0), neighbour(1, 0), neighbour(0, -1), neighbour(0, 1);
        return row;
    }

    // Calls visit(index of the coarse point, its weight) for the coarse points from which point (i, j) is interpolated.
    // Point i of a coarse row is point 2 i + 1 of the fine one.
    template <class Visit> static void each_parent(const Level &coarse, int i, int j, const Visit &visit) {
        const int i_first = i / 2 - (i + 1) % 2, i_last = i / 2, j_first = j / 2 - (j + 1) % 2, j_last = j / 2;
        const double weight = (i % 2 ? 1 : 0.5) * (j % 2 ? 1 : 0.5);
        for (int a = i_first; a <= i_last; a++)
            for (int b = j_first; b <= j_last; b++)
                if (coarse.has(a, b)) visit(a, b, weight);
    }

    static void coarsen(const Level &fine, Level &coarse) {
        std::fill(coarse.stencil.begin(), coarse.stencil.end(), Stencil{});
        for (int i = 0; i < fine.side; i++)
            for (int j = 0; j < fine.side; j++) {
                const Stencil &row = fine.stencil[fine.at(i, j)];
                for (int di = -1; di <= 1; di++)
                    for (int dj = -1; dj <= 1; dj++) {
                        const double entry = row[3 * (di + 1) + dj + 1];
                        if (entry == 0) continue;
                        each_parent(coarse, i, j, [&](int a, int b, double weight) {
                            each_parent(coarse, i + di, j + dj, [&](int c, int d, double other) {
                                coarse.stencil[coarse.at(a, b)][3 * (c - a + 1) + d - b + 1] += weight * entry * other;
                            });
                        });
                    }
            }
    }

    // Returns the sum of entry times v over the neighbours of point (i, j), without the point itself.
    static double neighbours(const Level &level, const Vector &v, int i, int j) {
        const Stencil &row = level.stencil[level.at(i, j)];
        double sum = 0;
        for (int di = -1; di <= 1; di++) {
            if (i + di < 0 || i + di >= level.side) continue;
            const double *const values = &v[level.at(i + di, 0)];
            const double *const entries = &row[3 * (di + 1)];
            if (j > 0) sum += entries[0] * values[j - 1];
            if (di != 0) sum += entries[1] * values[j];
            if (j + 1 < level.side) sum += entries[2] * values[j + 1];
        }
        return sum;
    }
    static void multiply(const Level &level, const Vector &v, Vector &to) {
        for (int i = 0; i < level.side; i++)
            for (int j = 0; j < level.side; j++) {
                const std::size_t k = level.at(i, j);
                to[k] = level.is_free(k) ? level.stencil[k][4] * v[k] + neighbours(level, v, i, j) : 0;
            }
    }
    static void smooth(Level &level, bool backward) {
        const int last = level.side - 1;
        for (int i = 0; i <= last; i++)
            for (int j = 0; j <= last; j++) {
                const int row = backward ? last - i : i, column = backward ? last - j : j;
                const std::size_t k = level.at(row, column);
                if (level.is_free(k))
                    level.value[k] =
                        (level.right[k] - neighbours(level, level.value, row, column)) / level.stencil[k][4];
            }
    }

    void descend(std::size_t l) {
        Level &level = levels_[l];
        std::fill(level.value.begin(), level.value.end(), 0.0);
        const bool coarsest = l + 1 == levels_.size();
        for (int sweep = 0; sweep < (coarsest ? 10 : 1); sweep++) {
            smooth(level, false);
            if (coarsest) smooth(level, true);
        }
        if (coarsest) return;
        Level &coarse = levels_[l + 1];
        multiply(level, level.value, level.residual);
        std::fill(coarse.right.begin(), coarse.right.end(), 0.0);
        for (int i = 0; i < level.side; i++)
            for (int j = 0; j < level.side; j++) {
                const std::size_t k = level.at(i, j);
                if (!level.is_free(k)) continue;
                const double residual = level.right[k] - level.residual[k];
                each_parent(coarse, i, j,
                            [&](int a, int b, double weight) { coarse.right[coarse.at(a, b)] += weight * residual; });
            }
        descend(l + 1);
        for (int i = 0; i < level.side; i++)
            for (int j = 0; j < level.side; j++) {
                const std::size_t k = level.at(i, j);
                if (level.is_free(k))
                    each_parent(coarse, i, j, [&](int a, int b, double weight) {
                        level.value[k] += weight * coarse.value[coarse.at(a, b)];
                    });
            }
        smooth(level, true);
    }

    std::vector<Level> levels_;
    Vector is_free_, r_, p_, z_, ap_;
    int cycles_ = 0;
};

} // namespace cudaopt::bench
