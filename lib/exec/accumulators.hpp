// Accumulators of a sweep over the variables. The record of a sweep is a plain struct of accumulators whose join()
// joins them member by member. A default-constructed record is the neutral element of join().
#pragma once

#include "exec/annotations.hpp"

#include <cmath>
#include <cstdint>

namespace cudaopt {

// The sum of the values. It is in double precision whatever the storage precision is, so that no decision depends on
// the storage precision.
struct Sum {
    double v = 0;
    CUDA_OPT_HD void add(double x) { v += x; }
    CUDA_OPT_HD void join(const Sum &other) { v += other.v; }
};

// The largest value, or -Inf if there is none. A NaN is propagated, which the comparison "x > v" alone would not do.
struct Max {
    double v = -INFINITY;
    CUDA_OPT_HD void add(double x) { v = (x > v || x != x) ? x : v; }
    CUDA_OPT_HD void join(const Max &other) { add(other.v); }
};

// The smallest value, or +Inf if there is none. A NaN is propagated.
struct Min {
    double v = INFINITY;
    CUDA_OPT_HD void add(double x) { v = (x < v || x != x) ? x : v; }
    CUDA_OPT_HD void join(const Min &other) { add(other.v); }
};

// The number of variables that have a property.
struct Count {
    int64_t v = 0;
    CUDA_OPT_HD void add(bool yes) { v += yes; }
    CUDA_OPT_HD void join(const Count &other) { v += other.v; }
};

// Records whether any variable has a property.
struct Flag {
    bool v = false;
    CUDA_OPT_HD void add(bool yes) { v = v || yes; }
    CUDA_OPT_HD void join(const Flag &other) { add(other.v); }
};

} // namespace cudaopt
