// Formats numbers as Fortran's edit descriptors do.
#pragma once

#include <string>

namespace cudaopt::drop_in {

// Formats an integer as the edit descriptor Iw does. The result is asterisks if the number does not fit.
std::string integer(int width, long long value);
// Formats a number as the edit descriptor 1P,Dw.d does or, with letter = 'E', as 1P,Ew.d does.
std::string scientific(int width, int digits, double value, char letter = 'D');
// Formats a default integer or a double as gfortran's list-directed output, write (6, *), does.
std::string listed(int value);
std::string listed(double value);

} // namespace cudaopt::drop_in
