// The data that a caller of setulb must keep, for L-BFGS-B 3.0 and for this library's function of the same name.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/common/stopwatch.hpp"
#include "cuda_opt_setulb.h" // setulb_: whichever of the two the program is linked with

namespace cudaopt::bench {

using Setulb = decltype(&setulb_);

class SetulbCaller {
  public:
    std::vector<double> x, g;
    double f = 0;

    // From x, with bounds that are infinite where there are none.
    SetulbCaller(std::vector<double> start, std::vector<double> lower, std::vector<double> upper, int m, double factr,
                 double pgtol, Setulb setulb = setulb_)
        : x(std::move(start)), g(x.size()), routine_(setulb), n_(static_cast<int>(x.size())), m_(m), factr_(factr),
          pgtol_(pgtol), l_(std::move(lower)), u_(std::move(upper)), nbd_(x.size()), iwa_(3 * x.size()) {
        const std::size_t n = x.size(), pairs = static_cast<std::size_t>(m);
        const std::size_t workspace = 2 * pairs * n + 5 * n + 11 * pairs * pairs + 8 * pairs;
        if (workspace > static_cast<std::size_t>(std::numeric_limits<int>::max()))
            throw std::runtime_error("L-BFGS-B 3.0 counts its workspace in 32 bits, too few for this n and m");
        wa_.resize(workspace);
        for (std::size_t i = 0; i < n; i++) {
            const bool has_l = std::isfinite(l_[i]), has_u = std::isfinite(u_[i]);
            nbd_[i] = has_l ? (has_u ? 2 : 1) : has_u ? 3 : 0;
        }
        std::memset(task_, ' ', sizeof task_);
        std::memset(csave_, ' ', sizeof csave_);
        set_task("START");
    }

    // Returns the seconds that it took.
    double call() {
        constexpr int silent = -1;
        const Stopwatch watch;
        routine_(&n_, &m_, x.data(), l_.data(), u_.data(), nbd_.data(), &f, g.data(), &factr_, &pgtol_, wa_.data(),
                 iwa_.data(), task_, &silent, csave_, lsave_, isave_, dsave_, sizeof task_, sizeof csave_);
        const double seconds = watch.seconds();
        if (says("ERROR")) throw std::runtime_error("setulb: " + words());
        return seconds;
    }
    bool says(const char *start) const { return std::strncmp(task_, start, std::strlen(start)) == 0; }
    std::string words() const {
        const std::string all(task_, sizeof task_);
        return all.substr(0, all.find_last_not_of(' ') + 1);
    }
    // How it ended, or was left.
    const char *end() const { return says("CONV") ? "converged" : says("NEW_X") ? "limit" : "line search"; }
    void stop() { set_task("STOP "); }
    // isave(k), k from 1
    int count(int k) const { return isave_[k - 1]; }

  private:
    void set_task(const char *start) { std::memcpy(task_, start, std::strlen(start)); }

    const Setulb routine_;
    const int n_, m_;
    const double factr_, pgtol_;
    std::vector<double> l_, u_, wa_;
    std::vector<int> nbd_, iwa_;
    double dsave_[29] = {};
    int lsave_[4] = {}, isave_[44] = {};
    char task_[60], csave_[60];
};

} // namespace cudaopt::bench
