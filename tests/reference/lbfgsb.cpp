#include "lbfgsb.hpp"

#include <cmath>

#include "../setulb/run.hpp" // declares setulb_; this program is linked with that of L-BFGS-B 3.0

namespace cudaopt_test {

ReferenceOutcome solve_reference(const Problem &problem, int m, double pgtol, int64_t most_iterations) {
    Caller caller(problem, m, 0, pgtol);
    ReferenceOutcome outcome;
    while (caller.step()) {
        // isave(34) is the number of evaluations so far, and dsave(13) the norm of the projected gradient.
        if (outcome.history.empty()) outcome.history.push_back({caller.f, NAN, 1});
        else if (caller.says("NEW_X")) outcome.history.push_back({caller.f, caller.measure(13), caller.count(34)});
        if (outcome.iterations() == most_iterations) break;
    }
    outcome.x = caller.x;
    outcome.f = caller.f;
    outcome.evaluations = caller.count(34);
    outcome.task = caller.task_words();
    return outcome;
}

} // namespace cudaopt_test
