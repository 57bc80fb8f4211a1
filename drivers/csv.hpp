// Writes the iterates of a solve as comma-separated values, with enough digits to restore each number exactly.
#pragma once

#include "history.hpp"

#include <string>

namespace driver {

std::string csv_header();
std::string csv_row(const Iterate &iterate);

} // namespace driver
