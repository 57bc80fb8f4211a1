// What a pass over the variables learns, one number at a time. A record of a pass is a plain struct of these with a
// join() that joins member by member; a default-constructed record has seen no variable.
#pragma once

#include "exec/annotations.hpp"

#include <cmath>
#include <cstdint>

namespace cudaopt {

// Sum of the values seen. Double whatever the storage: sums and decisions never depend on it.
struct Sum {
    double v = 0;
    CUDA_OPT_HD void add(double x) { v += x; }
    CUDA_OPT_HD void join(const Sum &other) { v += other.v; }
};

// Largest value seen, -Inf if none. A NaN stays: "x > v" alone would lose it.
struct Max {
    double v = -INFINITY;
    CUDA_OPT_HD void add(double x) { v = (x > v || x != x) ? x : v; }
    CUDA_OPT_HD void join(const Max &other) { add(other.v); }
};

// Smallest value seen, +Inf if none. A NaN stays.
struct Min {
    double v = INFINITY;
    CUDA_OPT_HD void add(double x) { v = (x < v || x != x) ? x : v; }
    CUDA_OPT_HD void join(const Min &other) { add(other.v); }
};

// How many variables have a property.
struct Count {
    int64_t v = 0;
    CUDA_OPT_HD void add(bool yes) { v += yes; }
    CUDA_OPT_HD void join(const Count &other) { v += other.v; }
};

// Whether any variable has a property.
struct Flag {
    bool v = false;
    CUDA_OPT_HD void add(bool yes) { v = v || yes; }
    CUDA_OPT_HD void join(const Flag &other) { add(other.v); }
};

} // namespace cudaopt
