"""The keeper of a pool: a thread that starts, feeds, kills, replaces and reaps its workers.

Belongs here: who gets a worker, and when one starts or dies. What callers see is `workers.py`, one
process is `process.py`.

A worker belongs to one party at a time. It is *idle*, or the keeper runs a queued job on it, or it
is *lent* to a caller that waits for the answer in its own thread, which saves waking the keeper
twice. Idle workers and the queue change hands under the lock `door`; the rest the keeper does
alone. A worker's death always arrives the same way, as the end of its socket, whether it crashed,
was killed at its deadline or from outside; a process gives its memory back before its sockets, so
nobody waits here for a dying one that holds gigabytes.
"""

import atexit
import os
import select
import socket
import threading
import time
from collections import deque
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any

from fourscore.executors.process import (
    FOREVER,
    START,
    Process,
    Settings,
    WorkerDied,
    WorkerTimeout,
    overdue,
)
from fourscore.executors.template import Template
from fourscore.executors.worker import PID, READY

_STUMBLES = 3  # failed starts in a row, with no worker alive, before those who wait are told
_CLOSED = "the pool was closed before this job was done"


class Job(Future[Any]):
    """A future that can be cancelled while it runs.

    It is never marked as running, because a running future refuses to be cancelled; asyncio then
    passes the cancellation of a task on to it by itself.
    """

    def __init__(self, pool: object, frame: bytes, deadline: float) -> None:
        super().__init__()
        self.pool = pool  # keeps an otherwise forgotten pool alive until its last job is done
        self.frame = frame
        self.deadline = deadline
        self.expires = FOREVER
        self.keeper: Keeper | None = None

    def cancel(self) -> bool:
        cancelled = super().cancel()
        if cancelled and self.keeper:
            self.keeper.ring()
        return cancelled

    def settle(self, result: object, error: BaseException | None = None) -> None:
        try:
            if error is None:
                self.set_result(result)
            else:
                self.set_exception(error)
        except InvalidStateError:  # cancelled in the meantime: tell those in futures.wait()
            self.set_running_or_notify_cancel()


class Worker(Process):
    """A process and what the keeper knows of it."""

    def __init__(self, settings: Settings, template: Template | None) -> None:
        super().__init__(settings, template)
        self.ready = False
        self.lent = False
        self.doomed = False  # killed; only its end has yet to be read
        self.job: Job | None = None
        self.ends = time.monotonic() + START

    def doom(self) -> None:
        self.doomed, self.lent, self.job, self.ends = True, False, None, FOREVER
        self.kill()


class Keeper:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.closing = self.ended = False
        self.door = threading.RLock()  # reentrant: a finalizer may ring while its thread rings
        self.jobs: deque[Job] = deque()
        self.idle: list[Worker] = []
        self.returned: list[Worker] = []  # unfit for another job: for the keeper to replace
        self.workers: dict[int, Worker] = {}
        self.wanted = 0  # how many workers there should be: grows with demand, up to size
        self.stumbles = 0
        self.rest = 0.0  # no worker is started before this moment
        self.template: Template | None = None
        self.hall, self.bell = socket.socketpair()
        self.hall.setblocking(False)
        self.bell.setblocking(False)
        self.poll = select.poll()  # not epoll, which a forked child would share with us
        self.poll.register(self.hall, select.POLLIN)
        self.thread = threading.Thread(target=self.keep, name="fourscore-workers", daemon=True)
        self.thread.start()
        _KEEPERS.add(self)

    # What other threads do.

    def accept(self, job: Job) -> bool:
        """Queue a job; False if this keeper has ended and another should be asked."""
        with self.door:
            if self.closing:
                raise RuntimeError("this pool of workers is closed")
            if self.ended:
                return False
            job.keeper, job.expires = self, time.monotonic() + self.settings.patience
            self.jobs.append(job)
            self.ring()
            return True

    def borrow(self) -> Worker | None:
        """A worker for the caller alone, if one is idle and nobody waits in the queue."""
        with self.door:
            worker = None if self.jobs or self.closing else self.pick()
            if worker:
                worker.lent = True
            return worker

    def exchange(self, worker: Worker, frame: bytes, deadline: float) -> object:
        """Run one job on a borrowed worker and give the worker back."""
        fit = False
        try:
            reply = worker.exchange(frame, deadline)
            fit = reply.fit
        except WorkerDied as error:
            raise WorkerDied(_CLOSED) if self.closing else error from None
        finally:  # also after Ctrl-C
            with self.door:
                worker.lent = False
                (self.idle if fit else self.returned).append(worker)
                if not fit or self.jobs:
                    self.ring()
                if self.ended:
                    worker.release()
        return reply.open()

    def pick(self) -> Worker | None:
        while self.idle:
            worker = self.idle.pop()
            if worker.alive():
                return worker
            self.returned.append(worker)  # killed from outside, and the keeper not told yet
            self.ring()
        return None

    def ring(self) -> None:
        with self.door, suppress(OSError):  # full, so it will be heard; or closed, and no matter
            self.bell.send(b"!")

    def stop(self) -> None:
        self.closing = True
        self.ring()

    def join(self) -> None:
        if threading.current_thread() is not self.thread:
            self.thread.join()

    # What the keeper's own thread does.

    def keep(self) -> None:
        try:
            while not self.closing and not self.ended:
                now = time.monotonic()
                self.expire(now)
                self.feed(now)
                for fd, event in self.poll.poll(self.pause()):
                    if worker := self.workers.get(fd):
                        self.attend(worker, event)
                    else:
                        self.answer()
        finally:
            self.end()

    def pause(self) -> float | None:
        """Milliseconds until something is due; None if only an event can bring work."""
        due = [worker.ends for worker in self.workers.values()]
        if self.jobs:
            due += [self.jobs[0].expires, self.rest or FOREVER]
        left = min(due, default=FOREVER) - time.monotonic()
        return None if left == FOREVER else min(max(0.0, left), 3600.0) * 1000

    def feed(self, now: float) -> None:
        """Hand the oldest jobs to the workers that are free, and start workers for the rest."""
        while job := self.next():
            with self.door:
                worker = self.pick()
                if not worker:
                    self.jobs.appendleft(job)
                    break
            worker.job, worker.ends = job, now + job.deadline
            worker.send(job.frame)
            job.frame = b""
            self.listen(worker)
        live = [worker for worker in self.workers.values() if not worker.doomed]
        busy = sum(worker.ready for worker in live) - len(self.idle)
        self.wanted = min(self.settings.size, max(self.wanted, busy + len(self.jobs)))
        if now >= self.rest:
            self.rest = 0.0
            for _ in range(self.wanted - len(live)):
                self.start(now)

    def next(self) -> Job | None:
        while self.jobs:
            job = self.jobs.popleft()
            if not job.cancelled():
                return job
            job.settle(None)
        return None

    def start(self, now: float) -> None:
        try:
            with LOCK:  # no fork between making the pipes and knowing them: it has to close them
                if self.settings.template and self.template is None:
                    limits = self.settings
                    numbers = (limits.memory, limits.cpu_seconds, limits.recycle)
                    self.template = Template(numbers, limits.warm)
                worker = Worker(self.settings, self.template)
                self.workers[worker.fd] = worker
        except OSError as error:
            if self.template is not None:  # it may have died: the next start makes another
                self.template.end()
                self.template = None
            self.stumble(now, str(error))
        else:
            self.listen(worker)

    def stumble(self, now: float, reason: str) -> None:
        """A worker could not start: try again soon, unless nothing suggests that it would help."""
        self.stumbles += 1
        self.rest = now + min(0.1 * 2**self.stumbles, 5.0)
        if self.stumbles < _STUMBLES or any(w.ready for w in self.workers.values()):
            return
        self.wanted = 0
        while job := self.next():
            job.settle(None, WorkerDied(f"no worker could start: {reason}"))

    def listen(self, worker: Worker) -> None:
        """Hear its answer while it works for us; otherwise, with no event asked, only its end."""
        events = 0 if worker.ready and not worker.job else select.POLLIN
        self.poll.register(worker.fd, events | select.POLLOUT if worker.unsent else events)

    def attend(self, worker: Worker, event: int) -> None:
        if worker.lent:  # its end, which the borrower reads as well: we wait to get it back
            self.poll.unregister(worker.fd)
            return
        if event & select.POLLOUT:
            worker.send()
            self.listen(worker)
        if not event & ~select.POLLOUT:
            return
        try:
            reply = worker.receive()
        except EOFError:
            self.bury(worker)
            return
        if not reply or worker.doomed:
            return
        job, worker.job, worker.ends = worker.job, None, FOREVER
        if reply.kind == READY:
            (worker.pid,) = PID.unpack(reply.body)
            worker.ready, self.stumbles, self.rest = True, 0, 0.0
        self.listen(worker)
        if reply.fit:
            with self.door:
                self.idle.append(worker)
        else:
            worker.doom()
        if job:
            self.feed(time.monotonic())  # before opening the answer: its worker need not wait
            try:
                job.settle(reply.open())
            except Exception as error:
                job.settle(None, error)

    def bury(self, worker: Worker) -> None:
        del self.workers[worker.fd]
        with self.door:
            if worker in self.idle:
                self.idle.remove(worker)
        with suppress(KeyError):
            self.poll.unregister(worker.fd)
        how = worker.status()
        worker.release()
        if worker.job:
            worker.job.settle(None, WorkerDied(f"the worker {how}"))
        elif not worker.ready and not worker.doomed:
            self.stumble(time.monotonic(), f"the worker {how} (its stderr may say why)")

    def expire(self, now: float) -> None:
        for worker in self.workers.values():
            if worker.ends > now:
                continue
            job = worker.job
            worker.doom()
            if job:
                job.settle(None, overdue(job.deadline))
            else:
                self.stumble(now, f"it was not ready after {START:g} s")
        while self.jobs and self.jobs[0].expires <= now:
            words = f"no worker was free within {self.settings.patience:g} s; the job never ran"
            self.jobs.popleft().settle(None, WorkerTimeout(words))

    def answer(self) -> None:
        """Someone rang: a job was queued or cancelled, or a lent worker came back unfit."""
        with suppress(OSError):
            self.hall.recv(4096)
        with self.door:
            returned, self.returned = self.returned, []
        for worker in returned:
            if self.workers.get(worker.fd) is worker:  # else its end was read before the bell
                worker.doom()
                self.poll.register(worker.fd, select.POLLIN)
        for worker in self.workers.values():
            if (job := worker.job) and job.cancelled():
                worker.doom()
                job.settle(None)

    def end(self) -> None:
        with self.door:
            self.ended = True
            jobs, self.jobs = [*self.jobs], deque()
            self.idle.clear()
            self.bell.close()
            self.hall.close()
        for worker in self.workers.values():
            worker.kill()
        for worker in self.workers.values():
            jobs += [worker.job] if worker.job else []
            worker.status()
            with self.door:
                if not worker.lent:  # the borrower is still reading its end
                    worker.release()
        if self.template is not None:
            self.template.end()
        _KEEPERS.discard(self)
        for job in jobs:
            job.settle(None, WorkerDied(_CLOSED))

    def abandon(self) -> None:
        """In a forked child: forget the parent's workers without touching them."""
        self.ended = True
        self.door = threading.RLock()
        for worker in self.workers.values():
            worker.forget()  # our copy of a lifeline would keep it alive after its parent
        if self.template is not None:
            self.template.release()
            self.template.process.returncode = 0
        self.workers, self.jobs, self.idle = {}, deque(), []
        self.bell.close()
        self.hall.close()


LOCK = threading.RLock()  # held across every fork, so that a child sees nothing half made
_KEEPERS: set[Keeper] = set()


def _after_fork() -> None:
    LOCK.release()
    for keeper in _KEEPERS:
        keeper.abandon()
    _KEEPERS.clear()


def _at_exit() -> None:
    keepers = [*_KEEPERS]
    for keeper in keepers:
        keeper.stop()
    for keeper in keepers:
        keeper.join()


os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=_after_fork)
atexit.register(_at_exit)
