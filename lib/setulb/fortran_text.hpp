// Formats numbers as Fortran's edit descriptors do.
#pragma once

#include <string>

namespace cudaopt::drop_in {

// Iw; asterisks if the number does not fit.
std::string integer(int width, long long value);
// 1P,Dw.d, and with letter = 'E' 1P,Ew.d.
std::string scientific(int width, int digits, double value, char letter = 'D');
// List-directed output of gfortran, write (6, *), for a default integer and for a double.
std::string listed(int value);
std::string listed(double value);

} // namespace cudaopt::drop_in
