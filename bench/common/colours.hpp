// Colours that differ, in the order of their use.
#pragma once

namespace cudaopt::bench {

constexpr const char *colours[] = {"#c0392b", "#2471a3", "#1e8449", "#b9770e", "#7d3c98", "#566573"};

} // namespace cudaopt::bench
