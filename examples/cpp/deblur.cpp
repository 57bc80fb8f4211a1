// Usage: deblur [SIZE [PICTURE.pgm]]
//
// A picture of SIZE x SIZE grey values in [0, 1], 256 by default, from one that is blurred and noisy:
//
//     f(x) = ||K x - y||^2 / 2 + w sum over pixels of sqrt(|difference to the neighbours|^2 + e^2),
//
// K a box of 9 x 9 pixels, the sum in favour of plain surfaces. Every pixel has the bounds 0 and 1, two numbers and no
// array. The picture, a PGM file, has side by side what was, what was measured, and the result.
//
//     c++ -O3 -std=c++17 deblur.cpp $(pkg-config --cflags --libs cuda_opt) -o deblur && ./deblur 256 deblur.pgm
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_opt.hpp>
#include <fstream>
#include <random>
#include <string>
#include <vector>

using Image = std::vector<double>;

namespace {

constexpr int reach = 4; // of the box, to either side
constexpr double weight = 4e-3, corner = 1e-2;

class Deblurring {
  public:
    Deblurring(int size, Image measured) : size_(size), measured_(std::move(measured)) {}

    // The mean of the box around each pixel, beyond the edge the picture is black: along rows, then along columns.
    Image blurred(const Image &image) const { return along(along(image, 1, size_), size_, 1); }

    double evaluate(const Image &x, Image &g) const {
        Image residual = blurred(x);
        double f = 0;
        for (std::size_t i = 0; i < x.size(); i++) {
            residual[i] -= measured_[i];
            f += residual[i] * residual[i] / 2;
        }
        const Image back = blurred(residual); // K is symmetric
        std::copy(back.begin(), back.end(), g.begin());
        for (int row = 0; row < size_; row++)
            for (int column = 0; column < size_; column++) {
                const int i = row * size_ + column;
                const double down = row + 1 < size_ ? x[i + size_] - x[i] : 0;
                const double right = column + 1 < size_ ? x[i + 1] - x[i] : 0;
                const double length = std::sqrt(down * down + right * right + corner * corner);
                f += weight * length;
                g[i] -= weight * (down + right) / length;
                if (row + 1 < size_) g[i + size_] += weight * down / length;
                if (column + 1 < size_) g[i + 1] += weight * right / length;
            }
        return f;
    }

  private:
    // Sums along lines whose elements lie `step` apart, the lines `line` apart.
    Image along(const Image &image, int step, int line) const {
        Image sums(image.size());
        for (int k = 0; k < size_; k++) {
            double sum = 0;
            for (int j = -reach; j < size_; j++) {
                if (j + reach < size_) sum += image[k * line + (j + reach) * step];
                if (j - reach > 0) sum -= image[k * line + (j - reach - 1) * step];
                if (j >= 0) sums[k * line + j * step] = sum / (2 * reach + 1);
            }
        }
        return sums;
    }

    int size_;
    Image measured_;
};

// Discs, bars and letters of light: an image in [0, 1].
Image scene(int size) {
    Image image(static_cast<std::size_t>(size) * size, 0.1);
    for (int row = 0; row < size; row++)
        for (int column = 0; column < size; column++) {
            const double x = (column + 0.5) / size, y = (row + 0.5) / size;
            double &grey = image[row * size + column];
            if (std::hypot(x - 0.35, y - 0.4) < 0.22) grey = 0.6;
            if (std::hypot(x - 0.3, y - 0.35) < 0.08) grey = 1;
            if (x > 0.62 && x < 0.92 && y > 0.12 && y < 0.5 && static_cast<int>(y * 40) % 3 == 0) grey = 0.9;
            if (y > 0.7 && y < 0.9 && x > 0.1 && x < 0.9) grey = std::fmod(x * 8, 1) < 0.5 ? 0 : (x > 0.5 ? 1 : 0.75);
        }
    return image;
}

double root_mean_square(const Image &a, const Image &b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum / static_cast<double>(a.size()));
}

bool write(const std::string &path, int size, const std::vector<const Image *> &images) {
    std::ofstream file(path, std::ios::binary);
    file << "P5\n" << images.size() * size << ' ' << size << "\n255\n";
    for (int row = 0; row < size; row++)
        for (const Image *image : images)
            for (int column = 0; column < size; column++) {
                const double grey = std::fmin(1, std::fmax(0, (*image)[row * size + column]));
                file.put(static_cast<char>(std::lround(255 * grey)));
            }
    return static_cast<bool>(file.flush());
}

} // namespace

int main(int argc, char **argv) {
    const int size = argc > 1 ? std::atoi(argv[1]) : 256;
    if (size < 2 * reach + 1 || size > 20000) {
        std::fprintf(stderr, "deblur: SIZE is '%s', but has to be from %d to 20000\n", argv[1], 2 * reach + 1);
        return 2;
    }
    const Image truth = scene(size);
    Image measured = Deblurring(size, {}).blurred(truth);
    std::mt19937 generator(1);
    for (double &grey : measured) // nearly a normal distribution, the same on every machine
        for (int k = 0; k < 12; k++) grey += 0.01 * (static_cast<double>(generator()) / 4294967296.0 - 0.5);
    const Deblurring problem(size, measured);

    Image x = measured, g(x.size());
    double f = 0;
    try {
        cudaopt::Minimiser<double> solver(static_cast<int64_t>(x.size()), 10, CUDA_OPT_BACKEND_HOST);
        solver.set_uniform_bounds(0, 1);
        solver.set_real(CUDA_OPT_PGTOL, 0).set_real(CUDA_OPT_FACTR, 1e8).set_int(CUDA_OPT_MAX_ITERATIONS, 300);
        int task;
        while ((task = solver.solve(x.data(), &f, g.data())) == CUDA_OPT_EVALUATE_FG) f = problem.evaluate(x, g);
        if (task < 0 && task != CUDA_OPT_ITERATION_LIMIT) solver.check(task);
        std::printf("%s\nf = %.8g after %lld iterations\n", solver.message(), f,
                    static_cast<long long>(solver.get_int(CUDA_OPT_ITERATIONS)));
    } catch (const cudaopt::Error &error) {
        std::fprintf(stderr, "deblur: %s\n", error.what());
        return 1;
    }
    std::printf("root mean square error: %.4f measured, %.4f restored\n", root_mean_square(truth, measured),
                root_mean_square(truth, x));
    if (argc > 2 && !write(argv[2], size, {&truth, &measured, &x})) {
        std::fprintf(stderr, "deblur: cannot write '%s'\n", argv[2]);
        return 1;
    }
}
