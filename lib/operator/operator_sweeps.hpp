// The sweeps of a model whose initial inverse Hessian is an operator of the caller (lbfgsb/operator_model.hpp). They
// use three vectors of the caller besides those of the other sweeps: v, to which the caller applies the operator; H_0
// v, which the caller writes; and the mask of the free variables, whose elements are 1 or 0.
#pragma once

#include "sweeps/sweeps.hpp"

namespace cudaopt {

class OperatorSweeps {
  public:
    virtual ~OperatorSweeps() = default;

    // Binds the arrays of a solve. It must be called first in each solve, after the history has been allocated.
    virtual void bind(const UserArrays &user, const HistoryVectors &history, const Resources &resources) = 0;
    virtual int64_t workspace_bytes() const = 0;

    // The three sweeps work on k pairs. Columns whose coefficient is 0 are not read. The numbers of n-vectors that they
    // access are those for k <= 8, if y of the newest pair is not stored yet (tests/unit/operator_traffic.cpp). Each
    // further eight pairs add 3, 4 and 3 accesses.
    // Sets the mask and the vector v of the request. It accesses k + 6 n-vectors, or 7 if v is y of the newest pair.
    virtual void form_input(const OperatorRequest &request) = 0;
    // Returns the inner products with H_0 v. It reads k + 4 n-vectors.
    virtual const OperatorProducts &multiply_output(const OperatorRequest &request) = 0;
    // Forms the direction and the trial point, with the move on F that the first request describes. It accesses k + 14
    // n-vectors.
    virtual DirectionSums direction(const OperatorRequest &move, const DirectionRequest &request) = 0;
};

} // namespace cudaopt
