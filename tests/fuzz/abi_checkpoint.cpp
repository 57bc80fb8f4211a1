// Valid and invalid checkpoints.
#include <algorithm>

#include "abi.hpp"

namespace fuzz {

std::vector<unsigned char> save(Run &run, cuda_opt *s) {
    const auto call = [&](void *buffer, int64_t *bytes) {
        return run.call("cuda_opt_save", [&] { return cuda_opt_save(s, buffer, bytes); });
    };
    int64_t bytes = -1;
    check_code(run, s, "save", call(nullptr, &bytes), {0});
    std::vector<unsigned char> checkpoint(static_cast<std::size_t>(bytes), 0xa5);
    int64_t small = run.random.pick<int64_t>({0, -1, INT64_MIN, bytes - 1, run.random.below(bytes)});
    check_code(run, s, "save_small", call(checkpoint.data(), &small), {CUDA_OPT_IMPROPER_INPUT});
    run.require(small == bytes, "bytes_of_save", "the required size is not returned if the buffer is too small");
    const bool untouched = std::all_of(checkpoint.begin(), checkpoint.end(), [](int byte) { return byte == 0xa5; });
    run.require(untouched, "small_buffer", "a buffer that is too small was written to");
    check_code(run, s, "save", call(checkpoint.data(), &bytes), {0});
    run.require(bytes == small, "bytes_of_save", "the required size has changed without a call in between");
    return checkpoint;
}

std::vector<unsigned char> spoil(Random &random, std::vector<unsigned char> checkpoint) {
    const auto any_byte = [&random] { return static_cast<unsigned char>(random.below(256)); };
    if (checkpoint.empty() || random.chance(0.2)) {
        checkpoint.resize(static_cast<std::size_t>(random.below(4000)));
        std::generate(checkpoint.begin(), checkpoint.end(), any_byte);
        const char magic[] = "cuda_opt";
        if (random.chance(0.7)) std::copy_n(magic, std::min<std::size_t>(8, checkpoint.size()), checkpoint.begin());
        return checkpoint;
    }
    const auto size = static_cast<int64_t>(checkpoint.size());
    if (random.chance(0.3)) checkpoint.resize(static_cast<std::size_t>(random.below(size)));
    else if (random.chance(0.2))
        checkpoint.insert(checkpoint.end(), static_cast<std::size_t>(random.from_to(1, 99)), 0);
    else {
        // The damage is in the header of the checkpoint more often than elsewhere, because the header is read before
        // the checksum.
        const int64_t at = random.below(random.chance(0.5) ? std::min<int64_t>(64, size) : size);
        checkpoint[static_cast<std::size_t>(at)] ^= static_cast<unsigned char>(random.from_to(1, 255));
    }
    return checkpoint;
}

} // namespace fuzz
