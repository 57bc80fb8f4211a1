// Counts how many n-vectors the sweeps of an operator access: each element that a rule reads or writes for one variable
// is counted once.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <set>

#include <catch2/catch.hpp>

#include "operator/rules.hpp"

namespace {

struct Accesses {
    std::set<const void *> read, written;
    int count() const { return static_cast<int>(read.size() + written.size()); }
};
Accesses accesses;

// A number that records the accesses to it. Copies are temporary values, and accesses to them are not recorded.
class Counted {
  public:
    Counted(double v = 0) : v_(v) {}
    Counted(const Counted &o) : v_(o.get()) {}
    Counted &operator=(const Counted &o) {
        if (stored_) accesses.written.insert(this);
        v_ = o.get();
        return *this;
    }
    operator double() const { return get(); }
    void begin(double v) { v_ = v, stored_ = true; }

  private:
    double get() const {
        if (stored_) accesses.read.insert(this);
        return v_;
    }
    double v_;
    bool stored_ = false;
};

} // namespace

template <> class std::numeric_limits<Counted> : public std::numeric_limits<double> {};

namespace {

constexpr int pairs = 6;

// The elements of one variable in each vector. The newest y is not stored yet: its column contains the previous
// gradient.
struct Vectors {
    Counted x, g, l, u, mask, in, out, x_base, d, g_base;
    std::array<Counted, pairs> s, y;
    Vectors() {
        for (Counted *vector : {&x, &g, &l, &u, &mask, &in, &out, &x_base, &d, &g_base}) vector->begin(0.5);
        for (Counted &column : s) column.begin(0.25);
        for (Counted &column : y) column.begin(0.125);
        l.begin(-1), u.begin(1), mask.begin(1);
        accesses = {};
    }
    cudaopt::BoxArrays<Counted> box() const { return {&l, &u}; }
    cudaopt::OperatorColumns<Counted, Counted> columns(std::array<Counted, pairs> &of, int count, bool fresh) {
        cudaopt::OperatorColumns<Counted, Counted> columns{&g, &y[0]};
        columns.fresh = fresh;
        for (int j = 0; j < count; j++) {
            columns.coefficient[j] = 1;
            columns.column[columns.count++] = &of[static_cast<std::size_t>(j)];
        }
        return columns;
    }
};

using CountedInput = cudaopt::FormInput<Counted, Counted>;

} // namespace

TEST_CASE("The sweeps of an operator access as many vectors as their comments say", "[operator]") {
    Vectors v;
    const int k = pairs;

    CountedInput{&v.x, &v.g, v.box(), 0, &v.mask, &v.in, 1, v.columns(v.y, k, true)}(0);
    CHECK(accesses.count() == k + 6);

    accesses = {};
    CountedInput{&v.x, &v.g, v.box(), 0, &v.mask, &v.in, 0, v.columns(v.y, 1, true)}(0);
    CHECK(accesses.count() == 7);

    accesses = {};
    cudaopt::OperatorRecord products;
    cudaopt::MultiplyOutput<Counted, Counted>{&v.in, &v.out, &v.mask, v.columns(v.y, k, true)}(0, products);
    CHECK(accesses.count() == k + 4);

    accesses = {};
    cudaopt::Combine<Counted, Counted>{&v.out, &v.mask, 1, v.columns(v.s, k, false)}(0);
    const int combine = accesses.count();
    accesses = {};
    cudaopt::DirectionRecord record;
    cudaopt::DirectionRequest request{};
    request.step = 1;
    cudaopt::TakeOperatorDirection<Counted, Counted>{
        &v.g, &v.out, v.box(), request, {&v.x, &v.g_base, &v.x_base, &v.d, &v.y[0]}, &v.y[0]}(0, record);
    CHECK(combine + accesses.count() == k + 14);
}
