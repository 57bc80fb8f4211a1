// The programs that run while calls of CUDA fail. Each creates a handle and solves a problem of one kind.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace failures {

class Case {
  public:
    virtual ~Case() = default;
    // Runs the program, and reuses the handle and the memory of an earlier attempt. Returns 0 or the code of the call
    // that failed. After 0, result() contains the numbers of the solution, by which two runs are compared bitwise.
    virtual int attempt() = 0;
    virtual std::string message() const = 0;
    // Frees the memory and destroys the handle. Returns whether the handle has become null.
    virtual bool give_back() = 0;
    const std::vector<double> &result() const { return result_; }

  protected:
    std::vector<double> result_;
};

struct Kind {
    const char *name;
    std::unique_ptr<Case> (*make)();
};
const std::vector<Kind> &kinds();

} // namespace failures
