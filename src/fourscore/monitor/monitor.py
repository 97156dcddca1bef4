"""`ProductionMonitor`: samples live traffic, scores it with a rubric, and raises alarms.

    monitor = ProductionMonitor(0.01, rubric="rubric.yaml", store="monitor.db")
    monitor.observe(query, answer, id=request_id, tags=["refunds"])     # never waits, never raises
    monitor.get_metrics()

Background threads score the sampled interactions with the same code as rewards in training, and
save them. The state of the service is in the store, shared by all processes.
"""

import asyncio
import os
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

from fourscore.monitor.batch_writer import BatchWriter, Counters
from fourscore.monitor.budget import HourlyBudget
from fourscore.monitor.decorators import MonitorDecorators
from fourscore.monitor.delivery import Deliverer, Sink
from fourscore.monitor.interaction import (
    Observation,
    clean_tags,
    is_thumbs_down,
    make_observation,
)
from fourscore.monitor.queue import Background, call_at_exit
from fourscore.monitor.redaction import Redaction
from fourscore.monitor.sample import Sample, read_sample
from fourscore.monitor.sampling import SIZE, Sampling, digest, make_ceiling
from fourscore.monitor.scorer import Scorer
from fourscore.monitor.settings import (
    JudgingSettings,
    Mode,
    PrivacySettings,
    RubricSource,
    SamplingMethod,
    SamplingSettings,
    Thresholds,
    make_rubric,
    read_thresholds,
)
from fourscore.monitor.state import Language, StateUpdater
from fourscore.stores.monitor import KEPT_IN_MEMORY, MonitorStore

_monitors: "weakref.WeakSet[ProductionMonitor]" = weakref.WeakSet()


class ProductionMonitor(MonitorDecorators):
    """Monitors one service; `docs/monitoring.md` explains each setting.

    It may be used from any thread and event loop, and after a fork. Without a call of `close`, it
    is closed at the end of the process.
    """

    def __init__(
        self,
        sample_rate: float = 0.01,
        *,
        rubric: RubricSource | None = None,
        mode: Mode = "sequential",
        language: Language = None,
        thresholds: Thresholds | Mapping[str, Any] | None = None,
        store: MonitorStore | str | Path | None = None,
        name: str = "default",
        sampling: SamplingSettings | SamplingMethod = "hash",
        judging: JudgingSettings | None = None,
        privacy: PrivacySettings | None = None,
        sinks: Iterable[Sink] = (),
    ) -> None:
        judging, privacy = judging or JudgingSettings(), privacy or PrivacySettings()
        if not isinstance(sampling, SamplingSettings):
            sampling = SamplingSettings(method=sampling)
        self.sample_rate, self.name, self.exit_wait = sample_rate, name, judging.exit_wait
        self.rubric = make_rubric(rubric)
        self.sampling = Sampling(sample_rate, sampling)
        self._owns_store = not isinstance(store, MonitorStore)
        self.store = store if isinstance(store, MonitorStore) else MonitorStore(store)
        self._state = StateUpdater(
            self.rubric,
            mode=mode,
            thresholds=read_thresholds(thresholds),
            language=language,
            calibration=judging.calibration,
        )
        writer = BatchWriter(self.store, name, fold=self._state.fold, keep_text=privacy.keep_text)
        self._scorer = Scorer(
            self.rubric,
            writer,
            deadline=float(judging.deadline),
            budget=HourlyBudget(judging.budget, self.rubric),
            redaction=Redaction(privacy.redact),
        )
        self._background: Background[Observation] = Background(
            self._score, most=int(judging.queue), threads=int(judging.workers)
        )
        self._prepare_fast_path()
        self._deliverer = Deliverer(self.store, name, sinks)
        self._deliverer.start()
        _monitors.add(self)
        call_at_exit(self)

    def _prepare_fast_path(self) -> None:
        """Copy what `observe` needs for every interaction into attributes, which are fast."""
        self._add = self._scorer.counters.observed.add
        self._is_hashed, self._random = self.sampling.is_hashed, self.sampling.random
        self._highest, self._ceiling = self.sampling.highest, self.sampling.ceiling
        self._has_rules = bool(self.sampling.rules)

    # In the application

    def observe(
        self,
        query: Any,
        output: Any = None,
        *,
        id: Any = None,  # noqa: A002
        tags: Iterable[str] = (),
        trace: Any = None,
        error: Any = None,
        feedback: Any = None,
        case: Any = None,
        seconds: float | None = None,
    ) -> bool:
        """Queue an interaction if it is sampled; return whether it was. Never waits or raises.

        `trace` is a `Trace`, its steps, or a list of chat messages; `error` is an exception or a
        text. `feedback` is the user's: thumbs down is False, a negative number or "down". `case` is
        what a judge needs beyond the query, as a `Case` or its fields.
        """
        try:
            self._add()
            draw: float | bytes
            if id is None or not self._is_hashed:
                draw = self._random()
                may_be_drawn = draw < self._highest
            else:
                name = id if type(id) is str else str(id)
                try:
                    draw = blake2b(name.encode(), digest_size=SIZE).digest()
                except UnicodeEncodeError:
                    draw = digest(name)
                may_be_drawn = draw < self._ceiling
            if not may_be_drawn and error is None and feedback is None and not self._has_rules:
                return False
            rest = {"trace": trace, "error": error, "feedback": feedback, "case": case}
            return self._queue(draw, query, output, id=id, tags=tags, seconds=seconds, **rest)
        except Exception as problem:
            self._count_failure(problem)
            return False

    def _observe_lazily(
        self,
        id: Any,  # noqa: A002
        has_failed: bool,
        read: Callable[[], dict[str, Any]],
    ) -> None:
        """Like `observe`, but call `read` for the arguments only if it may be sampled."""
        try:
            self._add()
            by_id = id is not None and self._is_hashed
            draw = digest(str(id)) if by_id else self._random()
            may_be_drawn = draw < (self._ceiling if by_id else self._highest)  # type: ignore[operator]
            if may_be_drawn or has_failed or self._has_rules:
                self._queue(draw, **read())
        except Exception as problem:
            self._count_failure(problem)

    def _queue(self, draw: float | bytes, query: Any, output: Any, **rest: Any) -> bool:
        """Queue an interaction if it is drawn at the rate of its tags, or wanted by a rule."""
        rest["tags"] = tags = clean_tags(rest["tags"] or ())
        rate = self.sampling.rate_of(tags)
        ceiling = rate if isinstance(draw, float) else make_ceiling(rate)
        is_drawn = draw < ceiling  # type: ignore[operator]
        if not is_drawn and not self._is_wanted(query, output, rest):
            return False
        observation = make_observation(query, output, rate=rate, drawn=is_drawn, **rest)
        if self._background.put(observation, observation.size, minor=not is_drawn):
            return True
        self._scorer.counters.dropped.add()
        return False

    def _is_wanted(self, query: Any, output: Any, rest: dict[str, Any]) -> bool:
        """Return whether a sampling rule wants an interaction."""
        sampling = self.sampling
        has_fault = rest["error"] is not None or getattr(rest["trace"], "fault", None)
        if sampling.wants_errors and has_fault:
            return True
        if sampling.wants_thumbs_down and is_thumbs_down(rest["feedback"]):
            return True
        if not sampling.rules:
            return False
        observation = make_observation(query, output, **rest)
        return any(rule(observation) for rule in sampling.rules)

    def _count_failure(self, problem: Exception) -> None:
        self._scorer.counters.failed.add()
        self._scorer.writer.log_once(problem, "an interaction cannot be observed")

    def _count_dropped(self) -> None:
        self._add()
        self._scorer.counters.dropped.add()

    def _score(self, observation: Observation) -> None:
        self._scorer.score_and_save(observation, self._background.waiting > 0)

    def sample_and_evaluate(self, query: Any, output: Any, **rest: Any) -> dict[str, Any] | None:
        """Score one interaction in this thread if it is sampled; arguments as of `observe`."""
        self._add()
        return self.evaluate_drawn(query, output, **rest)

    def evaluate_drawn(self, query: Any, output: Any, **rest: Any) -> dict[str, Any] | None:
        """Like `sample_and_evaluate`, for an interaction that is counted as observed already."""
        rest["tags"] = clean_tags(rest.get("tags") or ())
        id_ = rest.get("id")
        is_drawn = self.sampling.draws(None if id_ is None else str(id_), rest["tags"])
        known = {"trace": None, "error": None, "feedback": None, **rest}
        if not is_drawn and not self._is_wanted(query, output, known):
            return None
        rate = self.sampling.rate_of(rest["tags"])
        observation = make_observation(query, output, rate=rate, drawn=is_drawn, **rest)
        sample = self._scorer.evaluate(observation)
        if sample is None:
            return None
        self._scorer.writer.save()
        return _sample_document(sample)

    # Results

    def get_metrics(self) -> dict[str, Any]:
        """Return `sample_count`, `pass_rate`, `average_score`, `status`, and more.

        Samples that other processes saved in the same store count too.
        """
        counts = dict.fromkeys(Counters.NAMES, 0) | self.store.counts(self.name)
        for name, n in self._scorer.counters.pending().items():
            counts[name] += n
        document = self._state.document(self.store.state(self.name))
        return {**document, "counts": counts, "dropped": counts["dropped"]}

    @property
    def samples(self) -> list[dict[str, Any]]:
        """The last 10,000 saved samples, the oldest first."""
        stored = self.store.samples(self.name, limit=KEPT_IN_MEMORY)
        return [_sample_document(read_sample(one.body)) for one in reversed(stored)]

    @property
    def alert_thresholds(self) -> dict[str, float]:
        """The pass rates below which the status is `warning` and `critical`; may be edited."""
        return self._state.alert_thresholds

    @alert_thresholds.setter
    def alert_thresholds(self, given: Mapping[str, float]) -> None:
        read_thresholds(given)  # refuses unknown names and wrong numbers
        self._state.alert_thresholds = {**self._state.alert_thresholds, **given}

    # The end

    def flush(self, timeout: float = 30.0) -> bool:
        """Wait until all queued interactions are scored and saved; return whether they are."""
        until = time.monotonic() + timeout
        is_done = self._background.flush(timeout)
        return self._scorer.writer.save_all(until - time.monotonic()) and is_done

    async def flush_for_shutdown(self) -> None:
        """Flush for up to `exit_wait` seconds, in a thread: requests of others may be under way."""
        with suppress(RuntimeError):  # an event loop that is not asyncio's: `at_exit` flushes
            await asyncio.to_thread(self.flush, self.exit_wait)

    def close(self, timeout: float = 30.0) -> bool:
        """Refuse new interactions, score and save queued ones; return whether all were saved."""
        until = time.monotonic() + timeout
        is_done = self._background.close(timeout)
        is_saved = self._scorer.writer.save_all(until - time.monotonic()) and is_done
        self._deliverer.close(max(0.0, until - time.monotonic()))
        if self._owns_store and self.store.path is not None:
            self.store.close()
        return is_saved

    def at_exit(self) -> None:
        """Close the monitor within `exit_wait` seconds, unless it is closed already."""
        if not self._background.closed:
            self.close(self.exit_wait)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _reset_after_fork(self) -> None:
        self._scorer.writer.reset_after_fork()
        self._scorer.reset_after_fork()
        self._prepare_fast_path()


def _sample_document(sample: Sample) -> dict[str, Any]:
    return {
        "query": sample.query,
        "output_preview": sample.preview,
        "score": sample.value,
        "passed": sample.passed,
        "timestamp": sample.at,
    }


def _after_fork() -> None:
    for monitor in list(_monitors):
        monitor._reset_after_fork()


os.register_at_fork(after_in_child=_after_fork)
