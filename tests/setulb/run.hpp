// A problem in the arrays that setulb requires, and one step of its protocol with our library or L-BFGS-B 3.0.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "../support/configurations.hpp"
#include "../support/problems.hpp"
#include "cuda_opt_setulb.h"

namespace cudaopt_test {

using Setulb = decltype(&setulb_);

// Returns setulb of L-BFGS-B 3.0 from the distribution's shared library, which is loaded in addition to ours, or NULL
// if it is not installed.
Setulb reference_setulb();

// Returns whether a test must be skipped, because the suite is also run with CUDA_OPT_BACKEND=cuda. The first line of a
// test body is `if (backend_lacks()) return;`.
inline bool backend_lacks() {
    const char *backend = std::getenv("CUDA_OPT_BACKEND");
    return backend && std::string(backend) == "cuda" && skipped<CudaDouble>();
}

// Returns whether the backend chosen by the library or by the environment is a GPU.
inline bool runs_on_cuda() {
    const char *asked = std::getenv("CUDA_OPT_BACKEND");
    if (asked && std::string(asked) == "host") return false;
    cuda_opt *handle = nullptr;
    cuda_opt_create(&handle, 1, 1, CUDA_OPT_BACKEND_AUTO);
    const bool on_cuda = cuda_opt_backend(handle) == CUDA_OPT_BACKEND_CUDA;
    cuda_opt_destroy(&handle);
    return on_cuda;
}

class Caller {
  public:
    Caller(const Problem &problem, int m, double factr, double pgtol, int iprint = -1)
        : problem_(problem), n(static_cast<int>(problem.size())), m(m), iprint(iprint), factr(factr), pgtol(pgtol),
          x(problem.start), g(problem.start.size()), lower(problem.lower), upper(problem.upper), kind(x.size()),
          iwa(3 * x.size()), wa(workspace(x.size(), static_cast<std::size_t>(m))) {
        lower.resize(x.size(), -INFINITY);
        upper.resize(x.size(), INFINITY);
        for (std::size_t i = 0; i < x.size(); i++) {
            const bool has_lower = std::isfinite(lower[i]), has_upper = std::isfinite(upper[i]);
            kind[i] = has_lower ? (has_upper ? 2 : 1) : (has_upper ? 3 : 0);
        }
        set_task("START");
        std::memset(csave, ' ', sizeof csave);
    }

    void set_task(const std::string &words) {
        std::memset(task, ' ', sizeof task);
        std::memcpy(task, words.data(), std::min(words.size(), sizeof task));
    }
    std::string task_words() const {
        const std::string words(task, sizeof task);
        return words.substr(0, words.find_last_not_of(' ') + 1);
    }
    bool says(const std::string &start) const { return std::strncmp(task, start.c_str(), start.size()) == 0; }

    // Executes one call of setulb. The task FG requests evaluate().
    void call(Setulb setulb = setulb_) {
        setulb(&n, &m, x.data(), lower.data(), upper.data(), kind.data(), &f, g.data(), &factr, &pgtol, wa.data(),
               iwa.data(), task, &iprint, csave, lsave, isave, dsave, sizeof task, sizeof csave);
    }
    void evaluate() { f = problem_.evaluate(x, g); }
    // Executes a call and, if requested, the evaluation. Returns false if the solve has ended.
    bool step(Setulb setulb = setulb_) {
        call(setulb);
        if (says("FG")) evaluate();
        return says("FG") || says("NEW_X");
    }
    void solve(Setulb setulb = setulb_) {
        for (int calls = 0; step(setulb); calls++)
            if (calls > 100000) throw std::runtime_error("setulb does not terminate");
    }
    // Continues to the k-th iterate.
    void go_to_iterate(int k, Setulb setulb = setulb_) {
        while (step(setulb) && !(says("NEW_X") && count(30) == k)) {
        }
    }
    void restart() {
        x = problem_.start;
        set_task("START");
    }

    // Return array entries. The index counts from 1, as in the documentation.
    int count(int k) const { return isave[k - 1]; }
    double measure(int k) const { return dsave[k - 1]; }

  private:
    static std::size_t workspace(std::size_t n, std::size_t m) { return 2 * m * n + 5 * n + 11 * m * m + 8 * m; }
    Problem problem_;

  public:
    int n, m, iprint;
    double factr, pgtol;
    Vector x, g, lower, upper;
    double f = 0;
    std::vector<int> kind, iwa;
    Vector wa;
    char task[60], csave[60];
    int lsave[4] = {}, isave[44] = {};
    double dsave[29] = {};
};

} // namespace cudaopt_test
