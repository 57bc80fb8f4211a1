// What nearly every test includes: compiled once for each suite of several files.
#include "../harness.hpp"
