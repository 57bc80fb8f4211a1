// Handles Ctrl-C. The first Ctrl-C requests that the run end with the best iterate; a second one ends the program.
#pragma once

#include "cuda_opt.h"

namespace driver {

class Interrupt {
  public:
    // Begins to handle Ctrl-C.
    //
    // s: the solver that receives the stop request; NULL if the program itself checks requested().
    //
    // reminder: a line with its newline, or NULL. It is printed to the terminal if the program has not ended 0.7 s
    // after Ctrl-C, because it is executing a call that does not check the request. The text must exist as long as this
    // object.
    explicit Interrupt(cuda_opt *s, const char *reminder = nullptr);
    ~Interrupt();
    Interrupt(const Interrupt &) = delete;
    Interrupt &operator=(const Interrupt &) = delete;

    bool requested() const;
};

// Handles Ctrl-C while a program prepares its work. As there is no result to report, the program then ends at once with
// one line of text.
class EarlyInterrupt {
  public:
    // line: the text to print after Ctrl-C, with a newline. It must exist as long as this object.
    explicit EarlyInterrupt(const char *line);
    ~EarlyInterrupt();
    EarlyInterrupt(const EarlyInterrupt &) = delete;
    EarlyInterrupt &operator=(const EarlyInterrupt &) = delete;
};

} // namespace driver
