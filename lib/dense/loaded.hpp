// These functions validate values that were loaded as bytes, before the values are used.
#pragma once

#include <cstring>

namespace cudaopt::dense {

// Returns whether each bool is stored as the byte 0 or 1. Reading a bool with any other byte is undefined behaviour.
template <class... Bools> bool are_bools(const Bools &...values) {
    const auto is_bool = [](const bool &value) {
        unsigned char byte;
        std::memcpy(&byte, &value, sizeof byte);
        return byte <= 1;
    };
    return (is_bool(values) && ...);
}

template <class Value> bool is_within(Value least, Value value, Value most) { return least <= value && value <= most; }

} // namespace cudaopt::dense
