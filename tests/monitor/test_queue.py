"""The background queue: bounded, never blocking, working after a fork."""

import os
import threading

import pytest

from fourscore.monitor import queue
from fourscore.monitor.batch_writer import Counters, EventCounter
from fourscore.monitor.queue import Background


class Slow:
    """Work that waits until the event `go` is set."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun = threading.Semaphore(0)
        self.done: list[int] = []

    def __call__(self, thing: int) -> None:
        self.begun.release()
        self.go.wait()
        self.done.append(thing)


def test_work_is_done_by_at_most_the_allowed_threads() -> None:
    slow = Slow()
    background = Background(slow, most=100, threads=3)
    assert all(background.put(n, 1) for n in range(20))
    for _ in range(3):
        slow.begun.acquire()
    assert not slow.begun.acquire(blocking=False)
    assert not background.flush(0.01)
    slow.go.set()
    assert background.flush(60)
    assert sorted(slow.done) == list(range(20))


def test_put_is_refused_when_the_queue_is_full() -> None:
    slow = Slow()
    background = Background(slow, most=10, threads=1)
    background.put(0, 1)
    slow.begun.acquire()
    assert [background.put(n, 1) for n in range(1, 14)] == [True] * 10 + [False] * 3
    slow.go.set()
    assert background.flush(60)
    assert slow.done == list(range(11))
    assert background.put(99, 1)
    assert background.flush(60)


def test_minor_items_are_refused_when_half_full() -> None:
    slow = Slow()
    background = Background(slow, most=10, threads=1)
    background.put(0, 1)
    slow.begun.acquire()
    assert [background.put(n, 1, minor=True) for n in range(7)] == [True] * 5 + [False] * 2
    assert background.put(7, 1)
    slow.go.set()
    assert background.close(60)


def test_queue_is_bounded_by_size_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "MAX_SIZE", 1000)
    slow = Slow()
    background = Background(slow, most=100, threads=1)
    assert background.put(1, 900)
    assert not background.put(2, 200)
    slow.go.set()
    assert background.flush(60)
    assert background.put(3, 200)
    assert background.close(60)
    assert not background.put(4, 1)
    assert slow.done == [1, 3]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # about threads and fork
def test_forked_child_has_an_empty_queue_and_own_threads() -> None:
    slow = Slow()
    background = Background(slow, most=100, threads=2)
    for n in range(5):
        background.put(n, 1)
    with background._lock:  # in the child, no thread exists that could release it
        child = os.fork()
        if child == 0:  # pragma: no cover
            try:
                slow.go, slow.done = threading.Event(), []
                slow.go.set()
                fine = background.put(7, 1) and background.flush(60) and slow.done == [7]
                os._exit(0 if fine else 1)
            finally:
                os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    slow.go.set()
    assert background.flush(60)
    assert sorted(slow.done) == [0, 1, 2, 3, 4]


def test_counter_is_exact_among_threads() -> None:
    counter = EventCounter()

    def work() -> None:
        for _ in range(5000):
            counter.add()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    taken = sum(counter.take() for _ in range(50))
    for thread in threads:
        thread.join()
    assert taken + counter.pending == 20_000
    assert taken + counter.take() == 20_000
    assert counter.take() == counter.pending == 0
    counter.give_back(5)
    assert counter.take() == 5


def test_counters_are_taken_by_name() -> None:
    counters = Counters()
    counters.dropped.add()
    counters.observed.add()
    assert counters.pending()["dropped"] == 1
    taken = counters.take()
    assert taken == {"dropped": 1, "observed": 1}
    assert counters.take() == {}
    counters.give_back(taken)
    assert counters.take() == taken
