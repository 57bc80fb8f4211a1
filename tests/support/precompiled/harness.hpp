// Nearly every test includes these headers. They are precompiled once for each suite that has several files.
#include "../harness.hpp"
