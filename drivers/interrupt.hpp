// Ctrl-C requests that the run ends with the best iterate; a second Ctrl-C ends the program.
#pragma once

#include "cuda_opt.h"

namespace driver {

class Interrupt {
  public:
    // s: the solver that receives the stop request; NULL if the program itself checks requested().
    // reminder: a line with its newline, or NULL. It is printed to the terminal if the program has not ended 0.7 s
    // after the signal, because it is in a call that does not check the request. It must live as long as this object.
    explicit Interrupt(cuda_opt *s, const char *reminder = nullptr);
    ~Interrupt();
    Interrupt(const Interrupt &) = delete;
    Interrupt &operator=(const Interrupt &) = delete;

    bool requested() const;
};

// While a program prepares its work, there is no result to report, so Ctrl-C ends it at once with one line.
class EarlyInterrupt {
  public:
    // line: with its newline. It must live as long as this object.
    explicit EarlyInterrupt(const char *line);
    ~EarlyInterrupt();
    EarlyInterrupt(const EarlyInterrupt &) = delete;
    EarlyInterrupt &operator=(const EarlyInterrupt &) = delete;
};

} // namespace driver
