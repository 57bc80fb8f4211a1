"""Converts the options of ``minimize`` and ``lbfgsb``. SciPy's options have SciPy's names; the settings of the C
library have their names in capitals."""
from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np

from ._constants import INTEGERS, LINE_SEARCH, OTHER_NAMES, REALS, SETTINGS, InitialHessian
from ._handle import integer
from ._space import name_of, number

_EPSILON = float(np.finfo(np.float64).eps)
# The names of the options of finite differences. These options have no effect if the user supplies the gradient.
_OF_DIFFERENCES = {"eps", "finite_diff_rel_step", "workers"}
_WITHOUT_EFFECT = {"iprint"}
# The settings of the C library that these options set.
_SETTINGS = {
    "ftol": "FACTR", "gtol": "PGTOL", "maxiter": "MAX_ITERATIONS", "maxfun": "MAX_EVALUATIONS", "maxls": "MAXFEV",
    "noise": "NOISE", "noise_abs": "NOISE_ABS", "disp": "IPRINT_FREQUENCY",
}
# Other interfaces of L-BFGS-B, such as SciPy's fmin_l_bfgs_b, use these names for the same options.
_OTHER_NAMES = {
    "m": "maxcor",
    "factr": "ftol (= factr * 2.22e-16)",
    "pgtol": "gtol",
    "epsilon": "eps",
    "maxfev": "maxfun",
    "max_iter": "maxiter",
    "tol": "the argument tol",
}


@dataclass
class Options:
    """The options of a solve, converted for the C library and for finite differences."""

    m: int
    settings: dict[str, Any]
    disp: int
    maxfun: int  # 0: no limit
    differences: dict[str, Any] = field(default_factory=dict)


def _count(value: float, name: str) -> int:
    count = integer(value, name)
    if count < 1:
        raise ValueError(f"{name} is {value}: it has to be an integer of at least 1")
    return count


def limit_of(value: float | None, name: str) -> int:
    """Return a limit in the C library's form: an integer, where 0 means no limit.

    As in SciPy, the user's limit need not be an integer, and 0 means the smallest possible limit, which is 1."""
    if value is None:
        return 0
    text = f"{name} is {value!r}: it has to be a number of at least 0, or None for no limit"
    try:
        limit = number(value, name)
    except (TypeError, ValueError):
        raise ValueError(text) from None
    if not limit >= 0:
        raise ValueError(text)
    return 0 if limit >= 2**62 else max(math.ceil(limit), 1)


def _tolerance(value: float, name: str) -> float:
    """Return the tolerance, or raise ValueError with the option's name if it is negative or NaN. The C library would
    name its own setting, which may have another name and value."""
    tolerance = number(value, name)
    if not tolerance >= 0:
        raise ValueError(f"{name} is {value}: it has to be a number of at least 0")
    return tolerance


def _meant(name: str) -> list[str]:
    """Return the name of the option that the user may have meant by an unknown name, or an empty list."""
    if name in _OTHER_NAMES:
        return [_OTHER_NAMES[name]]
    setting, usual = name.removeprefix("CUDA_OPT_").upper(), sorted({"maxcor", *_OF_DIFFERENCES, *_SETTINGS})
    if setting in {*INTEGERS, *REALS, *OTHER_NAMES}:
        return [LINE_SEARCH.get(setting) or OTHER_NAMES.get(setting, setting)]
    return get_close_matches(name.lower(), usual, 1, 0.8) or get_close_matches(setting, sorted(SETTINGS), 1, 0.8)


def _hint(names: list[str]) -> str:
    """Return the names of options that the user may have meant by these unknown names."""
    meant = [found for name in names for found in _meant(name)]
    return f", but there {'is' if len(meant) == 1 else 'are'} {', '.join(meant)}" if meant else ""


def with_defaults(options: Mapping[str, Any] | None, **defaults: float) -> dict[str, Any]:
    """Return the user's options and the defaults. A default is left out if the user gave that option, by SciPy's name
    (ftol) or by the library's name (FACTR)."""
    given = options or {}
    return {**{name: value for name, value in defaults.items() if _SETTINGS[name] not in given}, **given}


def chooses_hessian(options: Mapping[str, Any]) -> bool:
    """Return whether the user's options contain the kind of the initial Hessian."""
    return bool(options.keys() & {"INITIAL_HESSIAN", "METRIC"})


def refuse_missing_diagonal(options: Mapping[str, Any]) -> None:
    """Raise ValueError if the options select the user's diagonal as initial Hessian. It is called if there is none."""
    kinds = [options[name] for name in ("INITIAL_HESSIAN", "METRIC") if name in options]
    if InitialHessian.DIAGONAL in kinds or options.get("DIAGCO") == 1:
        raise ValueError("INITIAL_HESSIAN or DIAGCO among the options selects a diagonal, but diagonal is not given")


def refuse_missing_operator(options: Mapping[str, Any]) -> None:
    """Raise ValueError if the options select the user's operator as initial Hessian. This is for solves without one."""
    if InitialHessian.OPERATOR in (options.get("INITIAL_HESSIAN"), options.get("METRIC")):
        raise ValueError("INITIAL_HESSIAN is an operator, but no preconditioner is given")


def refuse_missing_hessian(options: Mapping[str, Any]) -> None:
    """Raise ValueError if the options select the user's initial Hessian, for functions that accept none."""
    refuse_missing_diagonal(options)
    refuse_missing_operator(options)


def warning_class() -> type[Warning]:
    """Return the class of warnings about options: SciPy's class if the user has imported scipy.optimize, otherwise
    RuntimeWarning."""
    scipy = sys.modules.get("scipy.optimize")
    kind: type[Warning] = getattr(scipy, "OptimizeWarning", RuntimeWarning)
    return kind


def _settings_among(options: Mapping[str, Any], stacklevel: int) -> dict[str, Any]:
    """Return those options that are settings of the C library, by their names in its header."""
    settings = {}
    for name, value in options.items():
        key = OTHER_NAMES.get(name, name)
        if key not in INTEGERS and key not in REALS:
            continue
        if key in settings:
            other = next(former for former in options if former != name and OTHER_NAMES.get(former, former) == key)
            raise ValueError(f"{name} is given twice: its other name is {other}")
        if name in LINE_SEARCH:
            scipys = {"FTOL": "; ftol is a stopping test", "GTOL": "; gtol is a stopping test"}.get(name, "")
            text = f"{name} is a setting of the line search, and its name is {LINE_SEARCH[name]}{scipys}"
            warnings.warn(text, FutureWarning, stacklevel=stacklevel)
        settings[key] = value
    return settings


def options_of(
    options: Mapping[str, Any], tol: float | None, *, as_scipy: bool = False, has_gradient: bool = True,
    stacklevel: int = 3,
) -> Options:
    """Convert the user's options to the form that the C library and the finite differences use.

    Every default in which ``minimize`` differs from the C library is set here: the tolerances and limits are SciPy's,
    and the initial Hessian is a learned diagonal.

    as_scipy: if True, unknown options cause a warning and options without effect are ignored, as in SciPy's methods.
    Otherwise unknown options are an error, and options without effect cause a warning.

    stacklevel: that of warnings, as in ``warnings.warn``."""
    if not isinstance(options, Mapping):
        raise TypeError(f"options is a {name_of(options)}: it has to be a dict")
    given: dict[str, Any] = {"maxcor": 0, "ftol": 1e7 * _EPSILON, "gtol": 1e-5}
    given.update(maxiter=15000, maxfun=15000, maxls=20)
    if tol is not None:
        tol = _tolerance(tol, "tol")
        given.update(ftol=tol, gtol=tol)
    own = _settings_among(options, stacklevel + 1)
    for name in options.keys() & _SETTINGS.keys():
        if _SETTINGS[name] in own:
            raise ValueError(f"{name} and {_SETTINGS[name]} are both given, but they are the same option")
    given.update({name: value for name, value in options.items() if OTHER_NAMES.get(name, name) not in own})
    disp = given.pop("disp", None)
    disp = 0 if disp is None else integer(disp, "disp", 32)
    differences = {name: given.pop(name) for name in _OF_DIFFERENCES & given.keys()}
    ignored = given.keys() & _WITHOUT_EFFECT | (differences.keys() if has_gradient else set())
    if ignored and not as_scipy:
        text = f"these options have no effect in this call: {', '.join(sorted(ignored))}"
        warnings.warn(text, RuntimeWarning, stacklevel=stacklevel)
    noise = {name.upper(): _tolerance(given.pop(name), name) for name in ("noise", "noise_abs") if name in given}
    m = given.pop("maxcor")
    maxfun = limit_of(given.pop("maxfun"), "maxfun")
    settings = {
        "EPS": 0,
        "FACTR": _tolerance(given.pop("ftol"), "ftol") / _EPSILON,
        "PGTOL": _tolerance(given.pop("gtol"), "gtol"),
        "MAX_ITERATIONS": limit_of(given.pop("maxiter"), "maxiter"),
        "MAX_EVALUATIONS": maxfun,
        "MAXFEV": _count(given.pop("maxls"), "maxls"),
        "INITIAL_HESSIAN": InitialHessian.LEARNED,
        **noise,
        **own,
    }
    if unknown := given.keys() - _WITHOUT_EFFECT:
        names = sorted(map(str, unknown))
        if not as_scipy:
            raise ValueError(f"there is no option {', '.join(names)}{_hint(names)}")
        text = f"Unknown solver options: {', '.join(names)}{_hint(names)}"
        warnings.warn(text, warning_class(), stacklevel=stacklevel)
    limited_by_own = "MAX_EVALUATIONS" in own
    return Options(m, settings, disp, 0 if limited_by_own else maxfun, differences)
