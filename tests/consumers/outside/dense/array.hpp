// A header of the project that has the name of an internal header of the library.
#pragma once

struct OwnArray {
    double values[3];
};
