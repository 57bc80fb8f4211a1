// The headers that nearly every test includes, precompiled once for each suite with several files.
#include "../harness.hpp"
