// Ctrl-C asks for the end of the run with what it has found; a second Ctrl-C ends the program.
#pragma once

#include "cuda_opt.h"

namespace driver {

class Interrupt {
  public:
    // s: the solver to be asked; NULL where the program itself looks at requested()
    explicit Interrupt(cuda_opt *s);
    ~Interrupt();
    Interrupt(const Interrupt &) = delete;
    Interrupt &operator=(const Interrupt &) = delete;

    bool requested() const;
};

} // namespace driver
