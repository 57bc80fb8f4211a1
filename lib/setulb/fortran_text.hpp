// Numbers as Fortran's edit descriptors write them.
#pragma once

#include <string>

namespace cudaopt::drop_in {

// Iw; stars where it does not fit.
std::string integer(int width, long long value);
// 1P,Dw.d, and with letter = 'E' 1P,Ew.d.
std::string scientific(int width, int digits, double value, char letter = 'D');
// As write (6, *) has them in gfortran: a default integer, a double.
std::string listed(int value);
std::string listed(double value);

} // namespace cudaopt::drop_in
