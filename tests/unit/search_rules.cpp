// Tests the pattern search with a number of coordinates for which an index computed from coordinate and walk exceeds
// the range of int. The arrays are mapped, so that only pages that are written occupy memory.
#include <sys/mman.h>

#include <catch2/catch.hpp>

#include "pattern/rules.hpp"

using namespace cudaopt;

namespace {

// An array of zeros. Only the pages that are written occupy memory.
class Sparse {
  public:
    explicit Sparse(int64_t count) : bytes_(static_cast<std::size_t>(count) * sizeof(double)) {
        memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    ~Sparse() {
        if (*this) munmap(memory_, bytes_);
    }
    Sparse(const Sparse &) = delete;
    Sparse &operator=(const Sparse &) = delete;
    explicit operator bool() const { return memory_ != MAP_FAILED; }
    double *data() { return static_cast<double *>(memory_); }

  private:
    std::size_t bytes_;
    void *memory_;
};

} // namespace

TEST_CASE("Trials of coordinates from 2^30 on are written without integer overflow", "[search]") {
    constexpr int n = (1 << 30) + 2, j = n - 1;
    Sparse x(n), points(int64_t{2} * n), lower(n), upper(n), step(n);
    for (const Sparse *array : {&x, &points, &lower, &upper, &step})
        if (!*array) {
            WARN("skipped: trials of coordinates from 2^30 on need more address space than this machine provides");
            return;
        }
    pattern::Walk walk = pattern::not_begun();
    upper.data()[j] = 5;
    step.data()[j] = 0.5;
    x.data()[j] = 3;
    x.data()[j - 1] = 7;
    const pattern::Rules rules{1, n, 16, AtSmallestStep::restart_step, 0, lower.data(), upper.data(), step.data()};
    const pattern::Walks walks{x.data(), nullptr, &walk};
    WriteTrials{{rules, walks, nullptr, 1, nullptr}, points.data(), j, false}(0);
    const double *const row = points.data() + int64_t{2} * j;
    CHECK(row[0] == 3.5);
    CHECK(row[1] == 2.5);
    CHECK(row[-2] == 7);
    CHECK(row[-1] == 7);
}
