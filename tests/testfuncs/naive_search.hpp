// A second implementation of the functions of the pattern search: the printed formulas in long double.
#pragma once

#include <string>
#include <vector>

// f(x), by name
long double naive_search_function(const std::string &name, const std::vector<double> &x);
