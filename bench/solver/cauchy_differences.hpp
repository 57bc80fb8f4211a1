// The differences between the one-breakpoint approximation of the Cauchy point and the exact one over the iterations of
// a solve, in the bins of the 2014 paper's tables 1 and 3.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/common/command_line.hpp"
#include "bench/common/paper_2014.hpp"

namespace cudaopt::bench {

// |t_c - t*| / t* of each iteration.
struct CauchyDifferences {
    // 0; then bins of 5 %, each without its upper end; and all from 40 % on.
    static constexpr std::array<const char *, 10> bins = {"0",      "0-5%",   "5-10%",  "10-15%", "15-20%",
                                                          "20-25%", "25-30%", "30-35%", "35-40%", ">=40%"};
    std::array<double, bins.size()> share = {};
    double most = 0;

    // t: t* of each iteration; t_first: what the approximation gives there.
    CauchyDifferences(const std::vector<double> &t, const std::vector<double> &t_first) {
        for (std::size_t k = 0; k < t.size(); k++) {
            const double apart = std::fabs(t_first[k] - t[k]);
            const double difference = apart == 0 ? 0 : apart / t[k];
            const double bin = difference == 0 ? 0 : 1 + std::floor(difference / 0.05);
            share[static_cast<std::size_t>(std::min(bin, bins.size() - 1.0))]++;
            most = std::max(most, difference);
        }
        for (double &count : share) count /= static_cast<double>(t.size());
    }

    // As columns: the heading, our shares, the paper's.
    static std::string heading() {
        std::string text;
        char column[16];
        for (const char *const bin : bins) {
            std::snprintf(column, sizeof column, " %7s", bin);
            text += column;
        }
        return text + "   largest";
    }
    std::string columns() const {
        std::string text;
        for (const double part : share) text += cell("%.2f", 8, 100 * part);
        return text + cell("%.2e", 10, most);
    }
    static std::string columns(const paper_2014::Shares &percent) {
        std::string text;
        for (const double part : percent) text += cell("%.2f", 8, part);
        return text;
    }

    // As fields of a row of comma separated values.
    static const char *csv_heading() {
        return "share_0,share_0_5,share_5_10,share_10_15,share_15_20,share_20_25,share_25_30,share_30_35,share_35_40,"
               "share_from_40";
    }
    std::string csv_fields() const {
        std::string text;
        for (const double part : share) text += (text.empty() ? "" : ",") + field(part);
        return text;
    }
};

} // namespace cudaopt::bench
