// Usage: cuda_failures [STRIDE]
// Each call of the CUDA runtime that the library makes, or each STRIDE-th one, fails in turn. First it fails once, and
// in other runs all later calls fail as well. Each code must be a documented one with a message, and it must be
// possible to destroy the handle. After a single failure, another solve with the same handle must give results that are
// bitwise identical to those of a run without a failure.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "cases.hpp"
#include "cuda_opt.h"
#include "seam.hpp"

namespace {

using namespace failures;

int faults;

bool proper(int code, const std::string &sentence) {
    return (code == CUDA_OPT_CUDA_FAILURE || code == CUDA_OPT_OUT_OF_MEMORY || code == CUDA_OPT_BACKEND_UNAVAILABLE) &&
           sentence.size() > 20 && std::isalpha(static_cast<unsigned char>(sentence[0]));
}

struct Disturbed {
    const Kind &kind;
    int64_t number;
    seam::Fails how;

    void fault(const char *what, int code, const std::string &sentence) const {
        faults++;
        std::printf("%s, call %lld (%s) fails %s: %s; code %d, %s\n", kind.name, static_cast<long long>(number),
                    seam::first_to_fail(), how == seam::Fails::once ? "once" : "from then on", what, code,
                    sentence.c_str());
    }
    // Returns whether a call has failed.
    bool run(const std::vector<double> &undisturbed) const {
        const std::unique_ptr<Case> it = kind.make();
        seam::arm(number, how);
        const int code = it->attempt();
        if (code != 0) {
            if (!seam::fired()) fault("the run fails although no call of the runtime failed", code, it->message());
            if (!proper(code, it->message())) fault("the code or the message is not documented", code, it->message());
        } else if (it->result() != undisturbed) {
            fault("the result is different", code, it->message());
        }
        if (how == seam::Fails::once && seam::fired()) {
            const int again = it->attempt();
            if (again != 0) fault("the next run fails", again, it->message());
            else if (it->result() != undisturbed) fault("the next run has a different result", again, it->message());
        }
        if (!it->give_back()) fault("the handle is not destroyed", 0, "");
        return seam::fired();
    }
};

} // namespace

int main(int count, char **arguments) {
    const int64_t stride = count > 1 ? std::atoll(arguments[1]) : 1;
    if (stride < 1) {
        std::puts("usage: cuda_failures [STRIDE]");
        return 2;
    }
    if (seam::devices() == 0) {
        std::puts("skipped: no CUDA device");
        return std::getenv("CUDA_OPT_TEST_REQUIRE_CUDA") ? 1 : 77;
    }
    std::set<std::string> failed;
    for (const Kind &kind : kinds()) {
        // The run without a failure comes first, because CUB queries some properties of a device once per process and
        // stores the result even if the query fails.
        seam::arm(0, seam::Fails::once);
        std::vector<double> undisturbed;
        {
            const std::unique_ptr<Case> it = kind.make();
            const int code = it->attempt();
            if (code != 0) {
                std::printf("%s: the run without a failure ends with %d, %s\n", kind.name, code, it->message().c_str());
                return 1;
            }
            undisturbed = it->result();
        }
        int64_t runs = 0;
        for (const seam::Fails how : {seam::Fails::once, seam::Fails::from_then_on})
            for (int64_t number = 1; Disturbed{kind, number, how}.run(undisturbed); number += stride, runs++)
                failed.insert(seam::first_to_fail());
        seam::arm(0, seam::Fails::once);
        std::printf("%s: %lld runs with a call that failed\n", kind.name, static_cast<long long>(runs));
        std::fflush(stdout);
    }
    if (stride == 1)
        for (const std::string &name : seam::names())
            if (failed.count(name) == 0) {
                faults++;
                std::printf("%s is never called\n", name.c_str());
            }
    std::printf("%zu calls of the runtime, %d faults\n", failed.size(), faults);
    return faults > 0;
}
