// FoundVariables is a list of the variables whose breakpoints lie in a given interval (window) of the Cauchy path,
// sorted by breakpoint. Memory for the largest possible list is allocated once.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "lbfgsb/requests.hpp"

namespace cudaopt {

class FoundVariables {
  public:
    void allocate() {
        for (auto *variables : {&found_, &sorted_}) variables->reserve(crossed_capacity);
        bucket_ends_.reserve(crossed_capacity);
    }

    void clear() { found_.clear(); }
    void add(const CrossedVariable &variable) { found_.push_back(variable); }
    std::vector<CrossedVariable> &variables() { return found_; }
    int64_t count() const { return static_cast<int64_t>(found_.size()); }

    // Returns the sorted variables of the window. The argument is the number of variables in the window. If it exceeds
    // the capacity of the list, only this number is returned.
    CrossedWindow window(int64_t count) {
        if (count > crossed_capacity) return {nullptr, count};
        sort();
        return {sorted_.data(), count};
    }

  private:
    // Sorts the variables by breakpoint t, and by index if the breakpoints are equal. The variables are first
    // distributed to buckets of equal width in t, as many as there are variables, and each bucket is then sorted. In
    // practice the breakpoints are spread evenly enough that this takes a third of the time of a single sort.
    void sort() {
        const auto before = [](const CrossedVariable &a, const CrossedVariable &b) {
            return a.t < b.t || (a.t == b.t && a.index < b.index);
        };
        const std::vector<CrossedVariable> &from = found_;
        sorted_.resize(from.size());
        if (from.empty()) return;
        const auto [least, largest] = std::minmax_element(from.begin(), from.end(), before);
        const double buckets = static_cast<double>(from.size()) - 1, width = largest->t - least->t;
        const auto bucket = [&, origin = least->t](const CrossedVariable &variable) {
            return width > 0 && std::isfinite(width) ? static_cast<std::size_t>((variable.t - origin) / width * buckets)
                                                     : 0;
        };
        bucket_ends_.assign(from.size(), 0);
        for (const CrossedVariable &variable : from) bucket_ends_[bucket(variable)]++;
        int sum = 0;
        // The elements of bucket_ends_ are now the sizes of the buckets, and this loop replaces them by the indices at
        // which the buckets begin. The next loop advances each of them to the end of its bucket.
        for (int &end : bucket_ends_) sum += std::exchange(end, sum);
        for (const CrossedVariable &variable : from) sorted_[bucket_ends_[bucket(variable)]++] = variable;
        for (std::size_t k = 0, begin = 0; k < from.size(); begin = bucket_ends_[k++])
            std::sort(sorted_.begin() + begin, sorted_.begin() + bucket_ends_[k], before);
    }

    std::vector<CrossedVariable> found_, sorted_;
    std::vector<int> bucket_ends_;
};

} // namespace cudaopt
