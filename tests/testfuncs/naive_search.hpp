// The functions of the pattern search once more, as their source prints them, in long double and in no hurry.
#pragma once

#include <string>
#include <vector>

// f(x), by name
long double naive_search_function(const std::string &name, const std::vector<double> &x);
