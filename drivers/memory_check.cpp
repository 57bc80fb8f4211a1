#include "memory_check.hpp"

#include "failure.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

namespace driver {
namespace {

// Returns the value of one line of /proc/meminfo in bytes, or 0 if there is no such line.
double meminfo(const std::string &name) {
    std::ifstream file("/proc/meminfo");
    std::string word, rest;
    double kilobytes;
    while (file >> word >> kilobytes && std::getline(file, rest))
        if (word == name + ":") return 1024 * kilobytes;
    return 0;
}

std::string gigabytes(double bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g GB", bytes / 1e9);
    return text;
}

} // namespace

void check_memory(const char *program, double bytes) {
    const double whole = meminfo("MemTotal") + meminfo("SwapTotal");
    // In a container, MemAvailable may describe the whole machine although MemTotal describes the container. The
    // available memory is therefore limited to the total.
    const double available = std::min(meminfo("MemAvailable"), whole);
    // If /proc/meminfo has no entry for the available memory, no check is possible.
    if (available == 0) return;
    if (bytes > whole)
        throw Failure(exit_failed, "out of memory: this run needs " + gigabytes(bytes) + ", and the machine has " +
                                       gigabytes(whole));
    if (bytes > available / 2)
        std::fprintf(stderr, "%s: this run needs %s of the %s of memory that are available\n", program,
                     gigabytes(bytes).c_str(), gigabytes(available).c_str());
}

} // namespace driver
