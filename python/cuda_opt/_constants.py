"""The numbers of the constants in the C headers, which document each of them. ``tests/rules/check_interfaces.py``
verifies that both agree."""
from enum import IntEnum

BACKEND_AUTO, BACKEND_CUDA, BACKEND_HOST = 0, 1, 2
F_OF_RANK, F_OF_SEGMENTS, F_WHOLE = 0, 1, 2


class Task(IntEnum):
    """The codes that a step of a solver returns. Positive codes are requests to the caller; codes <= 0 end the solve
    (``include/cuda_opt.h``)."""

    EVALUATE_FG = 1
    SUPPLY_DIAGONAL = 2
    NEW_ITERATE = 3
    EVALUATE_BATCH = 4
    EXCHANGE = 5
    APPLY_OPERATOR = 6
    CONVERGED = 0
    LINE_SEARCH_FAILED = -1
    BAD_DIAGONAL = -2
    IMPROPER_INPUT = -3
    BAD_OPERATOR = -4
    ITERATION_LIMIT = -10
    EVALUATION_LIMIT = -11
    TIME_LIMIT = -12
    NOT_FINITE = -20
    UNBOUNDED = -21
    CUDA_FAILURE = -30
    OUT_OF_MEMORY = -31
    BACKEND_UNAVAILABLE = -32
    EXCHANGE_FAILED = -33
    MISUSE = -40
    STOPPED = -41


class InitialHessian(IntEnum):
    """The values of the setting ``INITIAL_HESSIAN``, which selects the initial Hessian approximation B0. The correction
    pairs update B0 in each iteration (``include/cuda_opt.h``, docs/initial_hessian.md)."""

    SCALAR = 0
    DIAGONAL = 1
    LEARNED = 2
    OPERATOR = 3


class Metric(IntEnum):
    """The former name of the enumeration ``InitialHessian``. ``ONE_NUMBER`` is the former name of ``SCALAR``."""

    ONE_NUMBER = 0
    DIAGONAL = 1
    LEARNED = 2


class Gradient(IntEnum):
    """The possible verdicts of ``check_gradient`` about a gradient (``include/cuda_opt.h``)."""

    CONSISTENT = 0
    WRONG_SIGN = 1
    WRONG_FACTOR = 2
    WRONG_COMPONENT = 3
    OF_ANOTHER_POINT = 4
    SINGLE_PRECISION = 5
    KINK = 6
    UNDECIDED = 7


class StopTest(IntEnum):
    """The stopping tests with which a solve converges (docs/termination.md). Each is the key of its tolerance."""

    NONE = 0  # the solve has not converged
    EPS = 200
    PGTOL = 201
    FACTR = 202
    F_TARGET = 203
    ROUNDING = 211
    NOISE = 213


LIMITS = frozenset({Task.ITERATION_LIMIT, Task.EVALUATION_LIMIT, Task.TIME_LIMIT})
# ENDS contains the return codes with which a solve ends regularly. The other negative codes report a wrong call or a
# failure.
ENDS = LIMITS | {Task.CONVERGED, Task.LINE_SEARCH_FAILED, Task.BAD_DIAGONAL, Task.BAD_OPERATOR, Task.NOT_FINITE,
                 Task.UNBOUNDED, Task.STOPPED}

INTEGERS = {
    "MAX_ITERATIONS": 100,
    "MAX_EVALUATIONS": 101,
    "MAXFEV": 102,
    "MAX_CUTS": 103,
    "DIAGCO": 104,
    "APPROXIMATE_CAUCHY": 105,
    "REPORT_ITERATES": 106,
    "THREADS": 107,
    "IPRINT_FREQUENCY": 108,
    "IPRINT_TYPE": 109,
    "ROBUST": 110,
    "HISTORY_BITS": 111,
    "INITIAL_HESSIAN": 112,
    "PRODUCT_BITS": 113,
    "F_PART": 114,
    "DIAGONAL_EVERY": 115,
    "TIMED": 116,
    "NOISE_AUTO": 117,
    "SEARCH_SEED": 120,
    "AT_SMALLEST_STEP": 121,
    "HALVINGS": 122,
    "ROUND_ITERATIONS": 123,
    "ITERATIONS": 300,
    "EVALUATIONS": 301,
    "FREE_COUNT": 302,
    "LOWER_COUNT": 303,
    "UPPER_COUNT": 304,
    "SKIPPED_UPDATES": 305,
    "CAUCHY_SEGMENTS": 306,
    "LINE_SEARCH_INFO": 307,
    "REFRESHES": 308,
    "CUTS": 309,
    "CAUCHY_CROSSINGS": 310,
    "BREAKPOINTS_CROSSED": 311,
    "WORKSPACE_BYTES": 312,
    "STOP_TEST": 313,
    "PAIRS": 314,
    "START_PROJECTED": 315,
    "DIMENSION": 316,
    "HISTORY_SIZE": 317,
    "PRECISION": 318,
    "SUBSPACE_TRUNCATIONS": 319,
    "CAUCHY_FREE_COUNT": 320,
    "CAUCHY_BREAKPOINTS": 321,
    "SUBSPACE_PROJECTED": 322,
    "OPERATOR_APPLICATIONS": 323,
    "OPERATOR_REFUSALS": 324,
    "BATCH": 340,
    "WALKS": 341,
    "ACTIVE_WALKS": 342,
    "BEST_WALK": 343,
    "BATCH_PACKED": 500,
    "BATCH_COUNT": 501,
}
# For batches only: the key under which the return codes of all problems are read.
BATCH_CODE = 502


REALS = {
    "EPS": 200,
    "PGTOL": 201,
    "FACTR": 202,
    "F_TARGET": 203,
    "GTOL": 204,
    "FTOL": 205,
    "XTOL": 206,
    "STPMIN": 207,
    "STPMAX": 208,
    "MAX_SECONDS": 209,
    "RELATIVE_GTOL": 210,
    "ROUNDING": 211,
    "F_UNBOUNDED": 212,
    "NOISE": 213,
    "NOISE_ABS": 214,
    "F": 400,
    "PG_NORM2": 401,
    "PG_NORM_INF": 402,
    "X_NORM2": 403,
    "STEP": 404,
    "THETA": 405,
    "SOLVER_SECONDS": 406,
    "CAUCHY_T": 407,
    "CAUCHY_T_FIRST": 408,
    "DIRECTION_NORM2": 409,
    "SLOPE_START": 410,
    "SLOPE": 411,
    "NOISE_ESTIMATE": 412,
}

# The names of the settings. All other names are those of results. Some settings are only for batches or searches.
SETTINGS = {name for name, key in {**INTEGERS, **REALS}.items() if key < 300} | {"BATCH_PACKED"}

# The options of ``minimize`` have names of their own for the line search's settings. Otherwise SciPy's ``ftol`` and
# ``gtol``, which are stopping tests, would differ from the settings FTOL and GTOL only in case.
LINE_SEARCH = {name: f"line_search_{name.lower()}" for name in ("FTOL", "GTOL", "XTOL")}
# A setting or a result can have another name as well: a former name, or the line search's option name.
OTHER_NAMES = {"METRIC": "INITIAL_HESSIAN", "MEMORY": "HISTORY_SIZE"}
OTHER_NAMES.update({new: name for name, new in LINE_SEARCH.items()})
