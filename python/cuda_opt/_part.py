"""The part of the variables that one rank stores, if several processes, threads or machines solve one problem together
(docs/ranks.md)."""
from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._handle import integer
from ._library import library

Gather = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Part:
    """The part of the variables that one rank stores. Ranks are numbered from 0 to ``ranks - 1``, and ``rank`` is the
    number of this one. Its x contains consecutive variables of the ``n``, beginning with variable ``first``.

    ``gather(send, receive)`` is an all-gather: it copies ``send`` of every rank, a NumPy array of bytes, to ``receive``
    of every rank, in the order of ranks::

        gather=comm.Allgather                                    # mpi4py
        gather=lambda send, receive: torch.distributed.all_gather_into_tensor(
            torch.from_numpy(receive), torch.from_numpy(send))   # torch, of a group on the host (gloo)

    If ``gather`` raises an exception, the solve ends on this rank, and the step raises the same exception. An exception
    that the log function raises on one rank ends the solve on all ranks at the next exchange. On that rank the step
    raises it, and on the others the step raises an error that names the rank.
    """

    rank: int
    ranks: int
    first: int
    n: int
    gather: Gather

    @classmethod
    def even(cls, rank: int, ranks: int, n: int, gather: Gather) -> tuple[Part, int]:
        """Return the part of this rank, and the number of its variables.

        The parts are as equal as possible. Each part consists of whole segments, which are ranges of variables with
        their own partial sums. Therefore the results are bitwise the same for any number of ranks."""
        rank, ranks, n = integer(rank, "rank"), integer(ranks, "ranks", 32, 1), integer(n, "n of the part")
        segments = library.cuda_opt_segments(n)
        first, end = (library.cuda_opt_segment(n, segments * r // ranks) for r in (rank, rank + 1))
        return cls(rank, ranks, first, n, gather), end - first

    def exchange(self, handle: ctypes.c_void_p) -> int:
        """Perform the all-gather that ``Task.EXCHANGE`` requests. Returns 0 or an error code of the C library."""
        send, receive, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int64()
        code = library.cuda_opt_gather(handle, ctypes.byref(send), ctypes.byref(receive), ctypes.byref(size))
        if code != 0:
            return int(code)
        own, all_of_them = (
            np.frombuffer(memoryview((ctypes.c_uint8 * length).from_address(address.value or 0)), np.uint8)
            for address, length in ((send, size.value), (receive, size.value * self.ranks))
        )
        try:
            self.gather(own, all_of_them)
        except BaseException as failure:
            library.cuda_opt_gather_failed(handle, str(failure).encode(errors="replace"))
            raise
        return 0
