"""Whether time is linear in the length of a text: by the ratio of CPU times, not by a clock limit.

A busy machine can make any one measurement slow, so a ratio has to be bad several times in a row.
"""

import time
from collections.abc import Callable, Iterator
from itertools import count

_TRIES = 4
_marks: Iterator[int] = count()


def seconds(call: Callable[[str], object], run: str, size: int, head: str = "") -> float:
    """CPU time of the faster of two calls; each text differs, so that no cache answers."""
    best = float("inf")
    for _ in range(2):
        text = f"{head}{run * (size // len(run))} {next(_marks)}"
        began = time.process_time()
        call(text)
        best = min(best, time.process_time() - began)
    return best


def assert_linear(
    call: Callable[[str], object], run: str, few: int = 5_000, many: int = 20_000, head: str = ""
) -> None:
    """Fail where the longer text takes more than 2.5 times its share of the shorter one's time."""
    for _ in range(_TRIES):
        short, long = seconds(call, run, few, head), seconds(call, run, many, head)
        if long <= 2.5 * (many / few) * max(short, 0.001):  # a millisecond is noise
            return
    raise AssertionError(f"{run!r}: {few} characters {short:.4f} s, {many} characters {long:.4f} s")


def assert_bounded(call: Callable[[str], object], run: str, read: int, size: int) -> None:
    """Fail where a text of this size costs far more than the part of it that is read."""
    for _ in range(_TRIES):
        part, whole = seconds(call, run, read), seconds(call, run, size)
        if whole <= 5 * max(part, 0.03):
            return
    raise AssertionError(
        f"{run!r}: {read} characters {part:.3f} s, {size} characters {whole:.3f} s"
    )
