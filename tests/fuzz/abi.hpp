// The contents of the header that the fuzzer of cuda_opt.h checks: keys, ranges, codes, messages.
#pragma once

#include <vector>

#include "cuda_opt.h"
#include "harness.hpp"

namespace fuzz {

struct IntKey {
    int32_t key;
    int64_t least, most;
    bool before_start; // whether it can be set only before the first call
};
struct RealKey {
    int32_t key;
    double least, most;
    bool open_below, open_above;
};
extern const std::vector<IntKey> int_settings;
extern const std::vector<RealKey> real_settings;
extern const std::vector<int32_t> int_results, real_results;

// The saved settings of a handle.
class Settings {
  public:
    explicit Settings(const cuda_opt *s);
    void put_back(Run &run, cuda_opt *s) const;

  private:
    std::vector<int64_t> integers_;
    std::vector<double> reals_;
};

// Checks that the code is one of the list and that the message is a sentence.
void check_code(Run &run, const cuda_opt *s, const char *call, int code, std::initializer_list<int> allowed,
                bool nan_given = false);

// Chooses reasonable settings, with some hostile ones among them.
void choose_settings(Run &run, cuda_opt *s);
// Makes one call that sets or reads any key with any value, and checks the result against the header.
void disturb_settings(Run &run, cuda_opt *s, bool started);
// Makes one call of a helper function or with NULL.
void disturb_helpers(Run &run, cuda_opt *s);

// Returns a checkpoint of a solve that has begun, and checks the calls that save it.
std::vector<unsigned char> save(Run &run, cuda_opt *s);
// Returns bytes that are not a checkpoint: truncated, damaged or random.
std::vector<unsigned char> spoil(Random &random, std::vector<unsigned char> checkpoint);

// Episodes: a few solves with one handle; a few pattern searches; solves with scales; solves with an operator; checks
// of gradients; a batch; ranks of a solve, one after the other and in threads; damaged checkpoints; handles that cannot
// be created.
void solver_episode(Run &run);
void search_episode(Run &run);
void scales_episode(Run &run);
void operator_episode(Run &run);
void check_episode(Run &run);
void batch_episode(Run &run);
void ranks_episode(Run &run);
void threads_episode(Run &run);
void checkpoints_episode(Run &run);
void refused_episode(Run &run);

} // namespace fuzz
