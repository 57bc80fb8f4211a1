// A header of the project's own, with the name of one of the library's internal headers.
#pragma once

struct OwnArray {
    double values[3];
};
