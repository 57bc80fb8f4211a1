#include "csv.hpp"

#include <cinttypes>
#include <cstdio>

namespace driver {

std::string csv_header() {
    return "iteration,evaluations,f,pg_norm2,pg_norm_inf,step,free,at_lower,at_upper,seconds\n";
}

std::string csv_row(const Iterate &it) {
    char row[256];
    std::snprintf(row, sizeof row,
                  "%" PRId64 ",%" PRId64 ",%.17g,%.17g,%.17g,%.17g,%" PRId64 ",%" PRId64 ",%" PRId64 ",%.6f\n",
                  it.iteration, it.evaluations, it.f, it.pg_norm2, it.pg_norm_inf, it.step, it.free, it.at_lower,
                  it.at_upper, it.seconds);
    return row;
}

} // namespace driver
