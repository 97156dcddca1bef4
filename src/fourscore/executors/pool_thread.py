"""The thread of a worker pool: it starts, assigns, kills, replaces and reaps workers.

Belongs here: which job gets a worker, and when a worker starts or is killed. The pool that callers
see is `worker_pool.py`, one worker as its parent holds it is `worker_process.py`.

A worker has one user at a time. It is *idle*, or runs a queued job for this thread, or is *lent* to
a caller that waits for the reply in its own thread, which saves waking this one twice. Idle workers
and the queue are guarded by `lock`; everything else is done by this thread alone. The death of a
worker always arrives the same way, as the end of its socket, whether it crashed or was killed, at
its deadline or from outside. A process frees its memory before it closes its sockets, so nobody
waits here for a dying worker that holds gigabytes.
"""

import atexit
import logging
import os
import select
import socket
import threading
import time
from collections import deque
from contextlib import suppress

from fourscore.executors.pool_job import KILL_SHARE, SLOW_SHARE, Job, PoolWorker
from fourscore.executors.template_process import TemplateProcess
from fourscore.executors.worker_main import PID, READY
from fourscore.executors.worker_process import (
    FOREVER,
    START,
    JobReply,
    WorkerDied,
    WorkerSettings,
    WorkerTimeout,
    make_timeout,
)

_MAX_FAILED_STARTS = 3  # in a row, with no worker alive, before all waiting jobs fail
LOG = logging.getLogger("fourscore.executors")
_KEEP_SPARE = 10.0  # seconds that a worker beyond `size` is kept idle
_CLOSED = "the pool was closed before this job was done"


class PoolThread:
    """Runs the workers of one pool until the pool is closed."""

    def __init__(self, settings: WorkerSettings) -> None:
        self.settings = settings
        self.is_closing = self.has_ended = False
        self.failure = _CLOSED  # why jobs that are left at the end have no result
        # Reentrant: a finalizer may wake us in a thread that wakes us.
        self.lock = threading.RLock()
        self.jobs: deque[Job] = deque()
        self.idle: list[PoolWorker] = []
        self.returned: list[PoolWorker] = []  # not reusable: to be replaced by this thread
        self.workers: dict[int, PoolWorker] = {}
        self.wanted_size = 0  # grows with demand, up to `size`
        self.failed_starts = 0
        self.next_start = 0.0  # the earliest moment to start a worker
        self.template: TemplateProcess | None = None
        self.wake_reader, self.wake_writer = socket.socketpair()
        self.wake_reader.setblocking(False)
        self.wake_writer.setblocking(False)
        self.poll = select.poll()  # not epoll, which a forked child would share with us
        self.poll.register(self.wake_reader, select.POLLIN)
        self.thread = threading.Thread(target=self.run, name="fourscore-workers", daemon=True)
        self.thread.start()
        _POOL_THREADS.add(self)

    # Called by other threads.

    def queue_job(self, job: Job) -> bool:
        """Queue a job; False if this thread has ended, and the pool needs a new one."""
        with self.lock:
            if self.is_closing:
                raise RuntimeError("this pool of workers is closed")
            if self.has_ended:
                return False
            job.pool_thread, job.expires = self, time.monotonic() + self.settings.patience
            self.jobs.append(job)
            self.wake()
            return True

    def borrow_worker(self) -> PoolWorker | None:
        """Lend an idle worker to the caller; None if there is none or jobs are queued."""
        with self.lock:
            worker = None if self.jobs or self.is_closing else self.pop_idle()
            if worker:
                worker.is_lent = True
            return worker

    def exchange(self, worker: PoolWorker, frame: bytes, deadline: float) -> object:
        """Run one job on a borrowed worker and return the worker."""
        fit = False
        try:
            reply = worker.exchange(frame, deadline)
            fit = reply.is_reusable
        except WorkerDied as error:
            raise WorkerDied(_CLOSED, has_run=False) if self.is_closing else error from None
        finally:  # also after Ctrl-C
            with self.lock:
                worker.is_lent = False
                (self.idle if fit else self.returned).append(worker)
                if not fit or self.jobs:
                    self.wake()
                if self.has_ended:
                    worker.release()
        return reply.open()

    def pop_idle(self) -> PoolWorker | None:
        while self.idle:
            worker = self.idle.pop()
            if worker.is_alive():
                return worker
            self.returned.append(worker)  # killed from outside, which this thread has not read yet
            self.wake()
        return None

    def wake(self) -> None:
        with self.lock, suppress(OSError):  # full: it wakes anyway; closed: nothing to wake
            self.wake_writer.send(b"!")

    def stop(self) -> None:
        self.is_closing = True
        self.wake()

    def join(self) -> None:
        if threading.current_thread() is not self.thread:
            self.thread.join()

    # Called by this thread alone.

    def run(self) -> None:
        try:
            while not self.is_closing and not self.has_ended:
                now = time.monotonic()
                self.expire_jobs(now)
                self.assign_jobs(now)
                for fd, event in self.poll.poll(self.get_poll_timeout()):
                    if worker := self.workers.get(fd):
                        self.handle_event(worker, event)
                    else:
                        self.handle_wake()
        except BaseException as error:  # a bug of ours, or no memory; the next job has a new thread
            LOG.exception("the thread of a worker pool failed")
            self.failure = f"the worker pool failed: {error!r}"
        finally:
            self.shut_down()

    def get_poll_timeout(self) -> float | None:
        """Return the milliseconds until something is due; None if nothing is."""
        due = [worker.deadline_at for worker in self.workers.values()]
        if self.jobs:
            due += [self.jobs[0].expires, self.next_start or FOREVER]
            if self.settings.spare:
                now, workers = time.monotonic(), self.workers.values()
                shares = [w.reaches(share) for share in (SLOW_SHARE, KILL_SHARE) for w in workers]
                due += [at for at in shares if at > now]
        elif self.idle and len(self.workers) > self.settings.size:
            due.append(self.idle[0].idle_since + _KEEP_SPARE)
        left = min(due, default=FOREVER) - time.monotonic()
        return None if left == FOREVER else min(max(0.0, left), 3600.0) * 1000

    def assign_jobs(self, now: float) -> None:
        """Assign the oldest jobs to idle workers, and start workers for the rest."""
        while job := self.pop_job():
            with self.lock:
                worker = self.pop_idle()
                if not worker:
                    self.jobs.appendleft(job)
                    break
            worker.job, worker.deadline_at = job, now + job.deadline
            worker.send(job.frame)
            job.frame = b""
            self.update_poll(worker)
        live = [worker for worker in self.workers.values() if not worker.is_discarded]
        busy = sum(worker.is_ready for worker in live) - len(self.idle)
        slow = sum(worker.reaches(SLOW_SHARE) <= now for worker in live)
        size = self.settings.size + min(slow, self.settings.spare)
        self.wanted_size = min(size, max(self.wanted_size, busy + len(self.jobs)))
        if now >= self.next_start:
            self.next_start = 0.0
            for _ in range(self.wanted_size - len(live)):
                self.start(now)

    def pop_job(self) -> Job | None:
        while self.jobs:
            job = self.jobs.popleft()
            if not job.cancelled():
                return job
            job.settle(None)
        return None

    def start(self, now: float) -> None:
        try:
            with LOCK:  # no fork before the pipes are registered: a child has to close them
                if self.settings.template and self.template is None:
                    limits = self.settings
                    numbers = (limits.memory, limits.cpu_seconds, limits.recycle)
                    self.template = TemplateProcess(numbers, limits.warm)
                worker = PoolWorker(self.settings, self.template)
                self.workers[worker.fd] = worker
        except OSError as error:
            if self.template is not None:  # it may have died: the next start makes a new one
                self.template.end()
                self.template = None
            self.note_failed_start(now, str(error))
        else:
            self.update_poll(worker)

    def note_failed_start(self, now: float, reason: str) -> None:
        """Delay the next start; fail all waiting jobs after several failures without a worker."""
        self.failed_starts += 1
        self.next_start = now + min(0.1 * 2**self.failed_starts, 5.0)
        alive = any(worker.is_ready for worker in self.workers.values())
        if alive or self.failed_starts < _MAX_FAILED_STARTS:
            return
        self.wanted_size = 0
        while job := self.pop_job():
            job.settle(None, WorkerDied(f"no worker could start: {reason}", has_run=False))

    def update_poll(self, worker: PoolWorker) -> None:
        """Poll for the reply of a worker with a job; of others only for their end."""
        events = 0 if worker.is_ready and not worker.job else select.POLLIN
        self.poll.register(worker.fd, events | select.POLLOUT if worker.unsent else events)

    def handle_event(self, worker: PoolWorker, event: int) -> None:
        if worker.is_lent:  # it has died, which the borrower reads too, and returns it
            self.poll.unregister(worker.fd)
            return
        if event & select.POLLOUT:
            worker.send()
            self.update_poll(worker)
        if not event & ~select.POLLOUT:
            return
        try:
            reply = worker.receive()
        except EOFError:
            self.remove_dead(worker)
            return
        if not reply or worker.is_discarded:
            return
        if not worker.is_ready and not self.make_ready(worker, reply):
            return
        job, worker.job, worker.deadline_at = worker.job, None, FOREVER
        self.update_poll(worker)
        if reply.is_reusable:
            worker.idle_since = time.monotonic()
            with self.lock:
                self.idle.append(worker)
        else:
            worker.discard()
        if job:
            # Before unpickling the reply: its worker need not wait.
            self.assign_jobs(time.monotonic())
            try:
                job.settle(reply.open())
            except Exception as error:
                job.settle(None, error)

    def make_ready(self, worker: PoolWorker, reply: JobReply) -> bool:
        """Have a started worker run the `load` of the pool; return whether it is ready for jobs."""
        if reply.kind == READY:
            (worker.pid,) = PID.unpack(reply.body)
            if self.settings.load:
                worker.send(self.settings.load)
                self.update_poll(worker)
                return False
        elif error := reply.get_error():
            worker.discard()
            self.note_failed_start(time.monotonic(), str(error))
            return False
        worker.is_ready, self.failed_starts, self.next_start = True, 0, 0.0
        return True

    def remove_dead(self, worker: PoolWorker) -> None:
        del self.workers[worker.fd]
        with self.lock:
            if worker in self.idle:
                self.idle.remove(worker)
        with suppress(KeyError):
            self.poll.unregister(worker.fd)
        how = worker.status()
        worker.release()
        if worker.job:
            worker.job.settle(None, WorkerDied(f"the worker {how}"))
        elif not worker.is_ready and not worker.is_discarded:
            self.note_failed_start(time.monotonic(), f"the worker {how} (its stderr may say why)")

    def expire_jobs(self, now: float) -> None:
        for worker in self.workers.values():
            if worker.deadline_at > now:
                continue
            job = worker.job
            worker.discard()
            if job:
                job.settle(None, make_timeout(job.deadline))
            else:
                self.note_failed_start(now, f"it was not ready after {START:g} s")
        self.make_way(now)
        while self.jobs and self.jobs[0].expires <= now:
            message = f"no worker was free within {self.settings.patience:g} s; the job never ran"
            self.jobs.popleft().settle(None, WorkerTimeout(message, has_run=False))

    def make_way(self, now: float) -> None:
        """Kill slow jobs for waiting ones where no worker can be added; end idle spare workers."""
        live = [worker for worker in self.workers.values() if not worker.is_discarded]
        if self.jobs and len(live) >= self.settings.size + self.settings.spare > self.settings.size:
            slow = sorted(live, key=lambda worker: worker.reaches(KILL_SHARE))
            for worker in slow[: len(self.jobs)]:
                if worker.job and worker.reaches(KILL_SHARE) <= now:
                    job, seconds = worker.job, KILL_SHARE * worker.job.deadline
                    worker.discard()
                    message = f"the job was killed after {seconds:g} s because other jobs waited"
                    job.settle(None, WorkerTimeout(message))
        with self.lock:
            idle = [] if self.jobs else self.idle[: max(0, len(live) - self.settings.size)]
            for worker in idle:
                if worker.idle_since + _KEEP_SPARE <= now:
                    self.idle.remove(worker)
                    worker.discard()

    def handle_wake(self) -> None:
        """Handle a wake-up: a job was queued or cancelled, or a worker came back not reusable."""
        with suppress(OSError):
            self.wake_reader.recv(4096)
        with self.lock:
            returned, self.returned = self.returned, []
        for worker in returned:
            if self.workers.get(worker.fd) is worker:  # else its death was handled before this
                worker.discard()
                self.poll.register(worker.fd, select.POLLIN)
        for worker in self.workers.values():
            if (job := worker.job) and job.cancelled():
                worker.discard()
                job.settle(None)

    def shut_down(self) -> None:
        with self.lock:
            self.has_ended = True
            jobs, self.jobs = [*self.jobs], deque()
            self.idle.clear()
            self.wake_writer.close()
            self.wake_reader.close()
        workers = [*self.workers.values()]
        jobs += [worker.job for worker in workers if worker.job]
        try:
            self.end_workers(workers)
        finally:
            for job in jobs:
                job.settle(None, WorkerDied(self.failure, has_run=False))

    def end_workers(self, workers: list[PoolWorker]) -> None:
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.status()
            with self.lock:
                if not worker.is_lent:  # the borrower still reads from it
                    worker.release()
        if self.template is not None:
            self.template.end()
        _POOL_THREADS.discard(self)

    def abandon(self) -> None:
        """In a forked child: forget the parent's workers without touching them."""
        self.has_ended = True
        self.lock = threading.RLock()
        for worker in self.workers.values():
            worker.forget()  # our copy of a lifeline would keep it alive after its parent
        if self.template is not None:
            self.template.release()
            self.template.process.returncode = 0
        self.workers, self.jobs, self.idle = {}, deque(), []
        self.wake_writer.close()
        self.wake_reader.close()


LOCK = threading.RLock()  # held across every fork, so that a child sees nothing half made
_POOL_THREADS: set[PoolThread] = set()


def _after_fork() -> None:
    LOCK.release()
    for each in _POOL_THREADS:
        each.abandon()
    _POOL_THREADS.clear()


def _at_exit() -> None:
    running = [*_POOL_THREADS]
    for each in running:
        each.stop()
    for each in running:
        each.join()


os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=_after_fork)
atexit.register(_at_exit)
