#include "machine.hpp"

#include <omp.h>

#include <cstdio>
#include <fstream>

namespace cudaopt::bench {

namespace {

std::string processor() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const auto colon = line.find(": ");
        if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown processor";
}

// The first GPU's name; empty where there is none.
std::string gpu() {
    std::FILE *const answer = popen("nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null", "r");
    if (!answer) return "";
    char line[256];
    std::string name = std::fgets(line, sizeof line, answer) ? line : "";
    while (std::fgets(line, sizeof line, answer)) {
    }
    if (pclose(answer) != 0) return "";
    while (!name.empty() && (name.back() == '\n' || name.back() == ' ')) name.pop_back();
    return name;
}

} // namespace

std::string machine() {
    const std::string device = gpu();
    return processor() + ", " + std::to_string(omp_get_max_threads()) + " threads" +
           (device.empty() ? "" : "; " + device);
}

} // namespace cudaopt::bench
