// Ctrl-C asks for the end of the run with what it has found; a second Ctrl-C ends the program.
#pragma once

#include "cuda_opt.h"

namespace driver {

class Interrupt {
  public:
    // s: the solver to be asked; NULL where the program itself looks at requested()
    // reminder: a line, with its newline, for the terminal if the program has not ended 0.7 s after the signal, because
    // it is in a call that does not look at the request; NULL: none. It has to live as long as this object
    explicit Interrupt(cuda_opt *s, const char *reminder = nullptr);
    ~Interrupt();
    Interrupt(const Interrupt &) = delete;
    Interrupt &operator=(const Interrupt &) = delete;

    bool requested() const;
};

// While a program prepares its work, there is nothing to report: Ctrl-C ends the program at once, with one line.
class EarlyInterrupt {
  public:
    // line: with its newline. It has to live as long as this object
    explicit EarlyInterrupt(const char *line);
    ~EarlyInterrupt();
    EarlyInterrupt(const EarlyInterrupt &) = delete;
    EarlyInterrupt &operator=(const EarlyInterrupt &) = delete;
};

} // namespace driver
