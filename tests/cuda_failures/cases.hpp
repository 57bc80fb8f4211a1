// What is run while calls of CUDA fail: a solve of each kind, from the making of its handle on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace failures {

class Case {
  public:
    virtual ~Case() = default;
    // All of it, with whatever is there from an attempt before: 0, or the code of the call that failed. After 0,
    // result() has the numbers of the solution, by which two runs are compared to the last bit.
    virtual int attempt() = 0;
    virtual std::string message() const = 0;
    // Give everything back. Returns whether what is given back is gone.
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
