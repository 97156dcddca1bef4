"""Jobs for the workers of test_worker_pool.py; a module, so that a worker can import them."""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn


def add(left: int, right: int) -> int:
    return left + right


def square(number: int) -> int:
    return number * number


def nap(seconds: float, value: Any = None) -> Any:
    time.sleep(seconds)
    return value


def grind(note: str) -> None:
    """Leave our pid in a file, then make one call into C that holds the GIL for hours."""
    partial = Path(f"{note}.part")
    partial.write_text(str(os.getpid()))
    partial.rename(note)
    pow(10, 10**10)


def nap_after(note: str) -> None:
    Path(note).write_text(str(os.getpid()))
    time.sleep(600)


def fork_and_grind(note: str) -> None:
    child = os.fork()
    if child == 0:
        pow(10, 10**10)
    Path(f"{note}.child").write_text(str(child))
    grind(note)


def fork_and_return() -> int:
    """Return the pid of a child that sleeps; the child itself never answers."""
    child = os.fork()
    if child == 0:
        time.sleep(600)
        os._exit(0)
    return child


def fork_and_fall_through() -> str:
    return "child" if os.fork() == 0 else "parent"


def apply(pair: tuple[Callable[[Any], Any], Any]) -> Any:
    return pair[0](pair[1])


def fail(message: str) -> NoReturn:
    raise LookupError(message)


def stop() -> NoReturn:
    raise StopIteration("enough")


def leave() -> NoReturn:
    sys.exit(3)


class Stubborn(Exception):
    """Pickles, but cannot be rebuilt: the classic that breaks concurrent.futures' pool."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def stubborn() -> NoReturn:
    raise Stubborn(1, 2)


class Shy:
    def __reduce__(self) -> NoReturn:
        raise TypeError("I stay here")


def shy() -> Shy:
    return Shy()


def endless() -> Iterator[int]:
    return iter(range(3))


def thread_lock() -> Any:
    return threading.Lock()


def segfault() -> None:
    ctypes.string_at(0)


def kill_self(number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(60)


def bomb() -> int:
    hoard = []
    while True:
        hoard.append(bytes(2**24))


def hoard(size: int) -> None:
    global kept
    kept = b"x" * size  # not bytes(size), which is not resident until it is written


kept = b""


def speak() -> int:
    print("to stdout")  # noqa: T201
    os.write(1, b"to descriptor 1\n")
    sys.stdout.flush()
    return os.getpid()


def interruptible() -> bool:
    os.kill(os.getpid(), signal.SIGINT)
    return True


def alarm() -> None:
    signal.alarm(1)


def path() -> list[str]:
    return sys.path


def burn() -> None:
    while True:
        pass


def modules() -> list[str]:
    return list(sys.modules)


def in_child(pool: Any, answers: Any) -> None:
    """The target of a multiprocessing.Process: use the pool it was given."""
    answers.put((pool.call(add, 20, 22, deadline=30), pool.call(os.getppid, deadline=30)))


LOADED: list[Any] = []


def load(value: Any, folder: str) -> None:
    """Load slowly, as a judge with a model does, and note it in the folder."""
    time.sleep(0.5)
    if Path(folder, "broken").exists():
        raise RuntimeError("the model file is gone")
    LOADED.append(value)
    Path(folder, f"loaded-{os.getpid()}").touch()


def get_loaded() -> list[Any]:
    return LOADED


def hang_or(value: int, folder: str, *, go: str = "go") -> int:
    """Return the value; where it is negative, hang until the folder has a file."""
    if value < 0:
        Path(folder, f"begun-{os.getpid()}").touch()
        while not Path(folder, go).exists():
            time.sleep(0.01)
    return value
