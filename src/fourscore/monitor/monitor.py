"""`ProductionMonitor`: live traffic, sampled, scored with the rubric of the tests, and watched.

    monitor = ProductionMonitor(0.01, rubric="rubric.yaml", store="monitor.db")
    monitor.observe(query, answer, id=request_id, tags=["refunds"])     # never waits, never raises
    monitor.get_metrics()

What is sampled is scored behind the application, by the call that scores rewards in training, and
saved; what is known of the service is a fact of the store, not of a process.
"""

import os
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

from fourscore.core import ConfigError, Judge, Rubric
from fourscore.core.numbers import to_finite_float
from fourscore.monitor.batch_writer import Saving, Tallies
from fourscore.monitor.budget import Budget, Written
from fourscore.monitor.decorators import Wrapping
from fourscore.monitor.delivery import Deliverer, Sink
from fourscore.monitor.interaction import Observed, observed, thumbs_down, tidy_tags
from fourscore.monitor.queue import Background, tell_at_exit
from fourscore.monitor.redaction import Hook, Redaction
from fourscore.monitor.sample import Sample, read_sample
from fourscore.monitor.sampling import RULES, SIZE, Kind, Sampling, digest, limit
from fourscore.monitor.scorer import Scorer
from fourscore.monitor.settings import Mode, Thresholds, rubric_of
from fourscore.monitor.state import Knowing, Language
from fourscore.stats.classification import Confusion
from fourscore.stores.monitor import DAY, KEPT_IN_MEMORY, MonitorStore

Given = Rubric | Judge | Mapping[str, Any] | str | Path

_monitors: "weakref.WeakSet[ProductionMonitor]" = weakref.WeakSet()


class ProductionMonitor(Wrapping):
    """One service under watch; `docs/monitoring.md` tells what each setting does.

    It may be used from any thread and event loop, and after a fork. `close` it, or leave that to
    the end of the process.
    """

    def __init__(
        self,
        sample_rate: float = 0.01,
        *,
        rubric: Given | None = None,
        mode: Mode = "sequential",
        sampling: Kind = "hash",
        seed: int | None = None,
        rates: Mapping[str, float] | None = None,
        always: Iterable[str | Callable[[Observed], bool]] = RULES,
        store: MonitorStore | str | Path | None = None,
        name: str = "default",
        language: Language = None,
        thresholds: Thresholds | Mapping[str, Any] | None = None,
        calibration: Confusion | None = None,
        sinks: Iterable[Sink] = (),
        budget: Written | None = None,
        redact: Hook | None = None,
        keep_text: float | None = 7 * DAY,
        queue: int = 1000,
        workers: int = 4,
        deadline: float = 30.0,
        exit_wait: float = 5.0,
    ) -> None:
        self.sample_rate, self.name, self.exit_wait = sample_rate, name, exit_wait
        self.rubric = rubric_of(rubric)
        self.sampling = Sampling(sample_rate, rates, always, sampling, seed)
        self._owned = not isinstance(store, MonitorStore)
        self.store = store if isinstance(store, MonitorStore) else MonitorStore(store)
        self._knowing = Knowing(self.rubric, mode, thresholds, language, calibration)
        kept = None if keep_text is None else _positive(keep_text, "keep_text")
        saving = Saving(self.store, name, self._knowing.fold, Tallies(), kept)
        self._scorer = Scorer(
            self.rubric,
            _positive(deadline, "deadline"),
            Budget(budget, self.rubric),
            Redaction(redact),
            saving,
            keep_text=kept is not None,
        )
        most, threads = int(_positive(queue, "queue")), int(_positive(workers, "workers"))
        self._background: Background[Observed] = Background(self._work, most=most, threads=threads)
        self._hot()
        self._deliverer = Deliverer(self.store, name, sinks)
        self._deliverer.start()
        _monitors.add(self)
        tell_at_exit(self)

    def _hot(self) -> None:
        """What the way of an interaction that is not sampled needs, one step away."""
        self._add = self._scorer.tallies.observed.add
        self._hashed, self._random = self.sampling.hashed, self.sampling.random
        self._highest, self._ceiling = self.sampling.highest, self.sampling.ceiling
        self._rules = bool(self.sampling.rules)

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
        """Look at an interaction, perhaps; whether it will be scored. Never waits, never raises.

        `trace` is a `Trace`, its steps, or a list of chat messages; `error` what went wrong, an
        exception or words; `feedback` the user's: thumbs down is False, a negative number or
        "down"; `case` whatever a judge needs beyond the query, as a `Case` or its fields.
        """
        try:
            self._add()
            draw: float | bytes
            if id is None or not self._hashed:
                draw = self._random()
                near = draw < self._highest
            else:
                name = id if type(id) is str else str(id)
                try:
                    draw = blake2b(name.encode(), digest_size=SIZE).digest()
                except UnicodeEncodeError:
                    draw = digest(name)
                near = draw < self._ceiling
            if not near and error is None and feedback is None and not self._rules:
                return False
            rest = {"trace": trace, "error": error, "feedback": feedback, "case": case}
            return self._look(draw, query, output, id=id, tags=tags, seconds=seconds, **rest)
        except Exception as problem:
            self._fail(problem)
            return False

    def _consider(self, id: Any, failed: bool, read: Callable[[], dict[str, Any]]) -> None:  # noqa: A002
        """`observe` for those who would have to read first: only what may be looked at is read."""
        try:
            self._add()
            by_id = id is not None and self._hashed
            draw = digest(str(id)) if by_id else self._random()
            near = draw < (self._ceiling if by_id else self._highest)  # type: ignore[operator]
            if near or failed or self._rules:
                self._look(draw, **read())
        except Exception as problem:
            self._fail(problem)

    def _look(self, draw: float | bytes, query: Any, output: Any, **rest: Any) -> bool:
        """The longer way, for what is drawn or may be wanted by a rule."""
        rest["tags"] = tags = tidy_tags(rest["tags"] or ())
        rate = self.sampling.rate_of(tags)
        drawn = draw < (rate if isinstance(draw, float) else limit(rate))  # type: ignore[operator]
        if not drawn and not self._wanted(query, output, rest):
            return False
        seen = observed(query, output, rate=rate, drawn=drawn, **rest)
        if self._background.put(seen, seen.size, minor=not drawn):
            return True
        self._scorer.tallies.dropped.add()
        return False

    def _wanted(self, query: Any, output: Any, rest: dict[str, Any]) -> bool:
        """Whether a rule asks for it."""
        rules = self.sampling
        if rules.errors and (rest["error"] is not None or getattr(rest["trace"], "fault", None)):
            return True
        if rules.thumbs_down and thumbs_down(rest["feedback"]):
            return True
        if not rules.rules:
            return False
        seen = observed(query, output, **rest)
        return any(rule(seen) for rule in rules.rules)

    def _fail(self, problem: Exception) -> None:
        self._scorer.tallies.failed.add()
        self._scorer.saving.tell(problem, "an interaction cannot be observed")

    def _drop(self) -> None:
        self._add()
        self._scorer.tallies.dropped.add()

    def _work(self, seen: Observed) -> None:
        self._scorer.work(seen, self._background.waiting > 0)

    def sample_and_evaluate(self, query: Any, output: Any, **rest: Any) -> dict[str, Any] | None:
        """Score one interaction here and now, if it is drawn; takes what `observe` takes."""
        self._add()
        rest["tags"] = tidy_tags(rest.get("tags") or ())
        id_ = rest.get("id")
        drawn = self.sampling.draws(None if id_ is None else str(id_), rest["tags"])
        known = {"trace": None, "error": None, "feedback": None, **rest}
        if not drawn and not self._wanted(query, output, known):
            return None
        rate = self.sampling.rate_of(rest["tags"])
        sample = self._scorer.evaluate(observed(query, output, rate=rate, drawn=drawn, **rest))
        if sample is None:
            return None
        self._scorer.saving.save()
        return _shown(sample)

    # What is known

    def get_metrics(self) -> dict[str, Any]:
        """How the service does: `sample_count`, `pass_rate`, `average_score`, `status`, and more.

        What other processes have saved in the same store counts too.
        """
        counts = dict.fromkeys(Tallies.WORDS, 0) | self.store.counts(self.name)
        for word, n in self._scorer.tallies.open().items():
            counts[word] += n
        document = self._knowing.document(self.store.state(self.name))
        return {**document, "counts": counts, "dropped": counts["dropped"]}

    @property
    def samples(self) -> list[dict[str, Any]]:
        """The last 10,000 samples that were saved, the oldest first."""
        kept = self.store.samples(self.name, limit=KEPT_IN_MEMORY)
        return [_shown(read_sample(one.body)) for one in reversed(kept)]

    @property
    def alert_thresholds(self) -> dict[str, float]:
        """The pass rates below which the status is `warning` and `critical`."""
        return self._knowing.levels

    # The end

    def flush(self, timeout: float = 30.0) -> bool:
        """Wait until what was observed is scored and saved; whether it is."""
        until = time.monotonic() + timeout
        done = self._background.flush(timeout)
        return self._scorer.saving.save_all(until - time.monotonic()) and done

    def close(self, timeout: float = 30.0) -> bool:
        """Flush, and take nothing more; whether everything was saved."""
        until = time.monotonic() + timeout
        done = self._background.close(timeout)
        saved = self._scorer.saving.save_all(until - time.monotonic()) and done
        self._deliverer.close(max(0.0, until - time.monotonic()))
        if self._owned and self.store.path is not None:
            self.store.close()
        return saved

    def at_exit(self) -> None:
        if not self._background.closed:
            self.close(self.exit_wait)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _forked(self) -> None:
        self._scorer.saving.forked(Tallies())
        self._scorer.forked()
        self._hot()


def _positive(value: Any, field: str) -> float:
    number = to_finite_float(value)
    if number is None or number <= 0:
        raise ConfigError(f"{value!r}: expected a number above 0", field=field)
    return number


def _shown(sample: Sample) -> dict[str, Any]:
    return {
        "query": sample.query,
        "output_preview": sample.preview,
        "score": sample.value,
        "passed": sample.passed,
        "timestamp": sample.at,
    }


def _after_fork() -> None:
    for monitor in list(_monitors):
        monitor._forked()


os.register_at_fork(after_in_child=_after_fork)
