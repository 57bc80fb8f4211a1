// This header declares functions that format numbers as Fortran's edit descriptors do.
#pragma once

#include <string>

namespace cudaopt::drop_in {

// Formats an integer as the Fortran edit descriptor Iw does. If the number does not fit, the result is asterisks.
std::string integer(int width, long long value);
// Formats a number as the Fortran edit descriptor 1P,Dw.d does. With letter = 'E' it is 1P,Ew.d.
std::string scientific(int width, int digits, double value, char letter = 'D');
// Formats a default integer or a double as gfortran does for list-directed output, write (6, *).
std::string listed(int value);
std::string listed(double value);

} // namespace cudaopt::drop_in
