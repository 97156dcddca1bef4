"""A job of a worker pool, and a worker with the job that it has."""

import time
from concurrent.futures import Future, InvalidStateError
from typing import TYPE_CHECKING, Any

from fourscore.executors.template_process import TemplateProcess
from fourscore.executors.worker_process import FOREVER, START, WorkerProcess, WorkerSettings

if TYPE_CHECKING:
    from fourscore.executors.pool_thread import PoolThread

#: Shares of its deadline after which a job is slow, and after which it may have to make way.
SLOW_SHARE, KILL_SHARE = 1 / 8, 1 / 2


class Job(Future[Any]):
    """A future that can be cancelled while it runs.

    It is never marked as running, because a running future refuses to be cancelled; asyncio then
    passes the cancellation of a task on to it by itself.
    """

    def __init__(self, pool: object, frame: bytes, deadline: float) -> None:
        super().__init__()
        self.pool = pool  # keeps the pool alive until its last job is done
        self.frame = frame
        self.deadline = deadline
        self.expires = FOREVER
        self.pool_thread: PoolThread | None = None

    def cancel(self) -> bool:
        cancelled = super().cancel()
        if cancelled and self.pool_thread:
            self.pool_thread.wake()
        return cancelled

    def settle(self, result: object, error: BaseException | None = None) -> None:
        try:
            if error is None:
                self.set_result(result)
            else:
                self.set_exception(error)
        except InvalidStateError:  # cancelled in the meantime: notify futures.wait()
            self.set_running_or_notify_cancel()


class PoolWorker(WorkerProcess):
    """A worker process and its state in the pool."""

    def __init__(self, settings: WorkerSettings, template: TemplateProcess | None) -> None:
        super().__init__(settings, template)
        self.is_ready = False
        self.is_lent = False
        self.is_discarded = False  # killed; only the end of its socket has yet to be read
        self.job: Job | None = None
        self.deadline_at = time.monotonic() + START
        self.idle_since = 0.0

    def reaches(self, share: float) -> float:
        """Return when the job of this worker has used this share of its deadline."""
        return FOREVER if self.job is None else self.deadline_at - (1 - share) * self.job.deadline

    def discard(self) -> None:
        self.is_discarded, self.is_lent, self.job, self.deadline_at = True, False, None, FOREVER
        self.kill()
