// Checks of values that were read as bytes, before anything relies on them.
#pragma once

#include <cstring>

namespace cudaopt::dense {

// Whether each of them holds false or true: reading any other byte as a bool is undefined.
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
