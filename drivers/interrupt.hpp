/* Ctrl-C asks the solver to end with its best iterate; a second Ctrl-C ends the program. */
#pragma once

#include "cuda_opt.h"

namespace driver {

class Interrupt {
public:
    explicit Interrupt(cuda_opt *s);
    ~Interrupt();
    Interrupt(const Interrupt &) = delete;
    Interrupt &operator=(const Interrupt &) = delete;
};

} // namespace driver
