"""The program of a worker: it runs one job at a time until it is killed.

Belongs here: the frames of both sides, the limits of a worker, and its loop. When a worker starts
and when it is killed is decided in `pool_thread.py`. This module imports
little, because its import time is part of the time it takes to replace a killed worker.

A worker is started as `python -c "...; serve(...)"`, so the user's `__main__` is never imported
again, and it talks over a descriptor of its own: what a job prints goes to the parent's stderr and
cannot be mistaken for an answer.
"""

import fcntl
import gc
import importlib
import os
import pickle
import resource
import signal
import struct
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress

# Parent to worker: length of the pickled (function, args), and the seconds the job may take.
REQUEST = struct.Struct("<Qd")
# Worker to parent: length of the body, what it is, and whether this worker has grown too large.
REPLY = struct.Struct("<QB?")
READY, RESULT, ERROR, MEMORY = range(4)
PID = struct.Struct("<q")  # sent by a worker when it is ready

_MAX_MESSAGE = (
    10_000  # characters kept of a message or traceback: hostile input gets quoted in them
)
_MAX_GROWTH = 128 * 2**20  # bytes a worker may hold beyond what it held when it became ready


def serve(
    jobs: int,
    lifeline: int,
    memory: int | None,
    cpu_seconds: float | None,
    recycle: int,
    warm: Sequence[str],
) -> None:
    """Run jobs from the socket `jobs` until the parent closes it."""
    os.set_inheritable(jobs, False)
    prepare(lifeline)
    os.register_at_fork(after_in_child=lambda: _drop(jobs, lifeline))
    _limit(memory)
    load(warm)
    try:
        _loop(jobs, cpu_seconds, recycle)
    except MemoryError:  # while reading a request: the stream is lost
        _send(jobs, MEMORY)
    finally:  # the parent has gone, or this is a fork made by a job: leave no thread, run no atexit
        os._exit(0)


def prepare(lifeline: int) -> None:
    """Make this process die with its parent, and leave the terminal alone."""
    os.set_inheritable(lifeline, False)  # a program started by a job must not hold our end open
    _die_with_parent(lifeline)
    with suppress(OSError):
        os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C belongs to the parent
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # a mask survives exec: SIGXCPU must get through


def load(warm: Sequence[str]) -> None:
    """Import modules before the first job, outside of its deadline."""
    for name in warm:
        try:
            importlib.import_module(name)
        except Exception:  # the job that needs the module will fail and say so to its caller
            traceback.print_exc()
    gc.collect()
    gc.freeze()  # warm modules are not garbage: no collection need walk them inside a deadline


#: The niceness of a ready worker: its parent has deadlines to keep, and others are still starting.
niceness = 0


def _loop(jobs: int, cpu_seconds: float | None, recycle: int) -> None:
    _send(jobs, READY, PID.pack(os.getpid()))
    os.nice(niceness)
    cores = os.cpu_count() or 1
    born, served, granted = _resident(), 0, 0
    with open(jobs, "rb", closefd=False) as stream:
        while head := stream.read(REQUEST.size):
            length, deadline = REQUEST.unpack(head)
            request = stream.read(length)
            # A job that keeps its deadline cannot burn more than this, so the limit only ends what
            # the parent no longer can: it is the last net under a worker whose parent is gone.
            allowed = deadline * cores if cpu_seconds is None else cpu_seconds
            limit = int(time.process_time() + allowed) + 1
            if limit != granted:
                granted = limit
                _lower(resource.RLIMIT_CPU, limit)
            kind, body = _run(request)
            del request
            signal.setitimer(signal.ITIMER_REAL, 0)  # an alarm set by a job must not hit the next
            served += 1
            is_oversized = _retiring or (served % recycle == 0 and _resident() - born > _MAX_GROWTH)
            _send(jobs, kind, body, is_oversized)
            del body


def retire() -> None:
    """Called by a job: let this worker take no other job, which also ends threads that hang."""
    global _retiring
    _retiring = True


_retiring = False


def _run(request: bytes) -> tuple[int, bytes]:
    # Both directions are pickled. Requests come from our own parent over an inherited socket that
    # has no name; nobody else can write to it. Replies are read by the parent, so whoever takes
    # over a worker takes over its parent: a worker bounds time and memory for hostile *data*
    # handed to trusted code. It is not a sandbox for hostile code, which would need another user
    # and a format that cannot run anything.
    try:
        function, args = pickle.loads(request)  # noqa: S301
        result = function(*args)
    except MemoryError:
        return MEMORY, b""
    except BaseException as error:  # sys.exit() in a job is a failure of the job
        return ERROR, _report(error)
    try:
        return RESULT, pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return MEMORY, b""
    except Exception as error:
        name = f"{type(result).__module__}.{type(result).__qualname__}"
        message = f"returned a {name}, which cannot be pickled: {error!s:.{_MAX_MESSAGE}}"
        return ERROR, pickle.dumps((None, message, ""))


def _report(error: BaseException) -> bytes:
    """Pickle an exception if it can be unpickled, with its message and its traceback."""
    trace = "".join(traceback.format_exception(error, limit=-30))[-_MAX_MESSAGE:]
    message = f"raised {traceback.format_exception_only(error)[-1].strip():.{_MAX_MESSAGE}}"
    # SystemExit would end the parent; StopIteration cannot be set on an asyncio future.
    if not isinstance(error, Exception) or isinstance(error, StopIteration):
        return pickle.dumps((None, message, trace))
    try:
        sealed = pickle.dumps(error, pickle.HIGHEST_PROTOCOL)
        pickle.loads(sealed)  # noqa: S301 - many exceptions pickle but cannot be rebuilt
    except Exception:
        return pickle.dumps((None, f"{message} (which cannot be pickled)", trace))
    return pickle.dumps((sealed, message, trace))


def _send(fd: int, kind: int, body: bytes = b"", is_oversized: bool = False) -> None:
    head = REPLY.pack(len(body), kind, is_oversized)
    if len(body) < 65536:
        head, body = head + body, b""
    for part in (head, body):
        view = memoryview(part)
        while view:
            view = view[os.write(fd, view) :]


def _die_with_parent(lifeline: int) -> None:
    """Have the kernel kill this process and whatever it forked when the parent's end closes.

    The parent holds the only other end of this pipe and never writes to it, so any event on it is
    the parent's death. On Linux the kernel answers that event with SIGKILL to our process group:
    no thread of ours needs the GIL, which `10**10**10` holds for hours.
    """
    os.set_blocking(lifeline, False)
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpid())
            flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
            fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC)
            with suppress(BlockingIOError):
                if not os.read(lifeline, 1):  # it died before we were listening
                    os._exit(1)
            return
    # Elsewhere SIGIO cannot be turned into a signal that kills: a thread waits, and a job that
    # holds the GIL is left to RLIMIT_CPU.
    os.set_blocking(lifeline, True)
    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()


def _watch(lifeline: int) -> None:
    os.read(lifeline, 1)
    os.killpg(os.getpid(), signal.SIGKILL)


def _limit(memory: int | None) -> None:
    _lower(resource.RLIMIT_CORE, 0)
    if memory is not None:
        # On Linux (4.7 and later) DATA counts what a process can write and AS also what it merely
        # reserves, which with numerical libraries is gigabytes. macOS enforces neither.
        _lower(resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS, memory)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123
        file.write("500")  # should the machine run out of memory, take a worker, not its parent


def _lower(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    soft = value if hard == resource.RLIM_INFINITY else min(value, hard)
    keep_hard = which == resource.RLIMIT_CPU  # the soft limit moves up again with every job
    with suppress(ValueError, OSError):
        resource.setrlimit(which, (soft, hard if keep_hard else soft))


def _resident() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - pathlib is slow to import
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:  # no /proc: the highest it ever was, which macOS gives in bytes
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def _drop(*fds: int) -> None:
    for fd in fds:
        with suppress(OSError):
            os.close(fd)
