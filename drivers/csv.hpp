// Writes iterates as comma separated values, with all digits.
#pragma once

#include "history.hpp"

#include <string>

namespace driver {

std::string csv_header();
std::string csv_row(const Iterate &iterate);

} // namespace driver
