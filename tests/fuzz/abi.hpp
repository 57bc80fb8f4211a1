// What the fuzzer of cuda_opt.h knows of the header: keys, ranges, codes, sentences.
#pragma once

#include <vector>

#include "cuda_opt.h"
#include "harness.hpp"

namespace fuzz {

struct IntKey {
    int32_t key;
    int64_t least, most;
    bool before_start; // whether it can be set only then
};
struct RealKey {
    int32_t key;
    double least, most;
    bool open_below, open_above;
};
extern const std::vector<IntKey> int_settings;
extern const std::vector<RealKey> real_settings;
extern const std::vector<int32_t> int_results, real_results;

// The settings of a handle, to be put back.
class Settings {
  public:
    explicit Settings(const cuda_opt *s);
    void put_back(Run &run, cuda_opt *s) const;

  private:
    std::vector<int64_t> integers_;
    std::vector<double> reals_;
};

// A code of the list; the message is a sentence.
void check_code(Run &run, const cuda_opt *s, const char *call, int code, std::initializer_list<int> allowed,
                bool nan_given = false);

// Settings that make sense, and with hostile ones among them.
void choose_settings(Run &run, cuda_opt *s);
// One call that sets or reads any key, with any value: what it returns is what the header says.
void disturb_settings(Run &run, cuda_opt *s, bool started);
// One call of the helpers, or with NULL.
void disturb_helpers(Run &run, cuda_opt *s);

// A checkpoint of a solve that has begun, the way to it checked.
std::vector<unsigned char> save(Run &run, cuda_opt *s);
// Bytes that are none: torn, flipped, or made up.
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
