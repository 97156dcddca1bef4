"""What the samples of a monitor amount to: its judgement, as the store keeps it.

The rules are the monitor's, the history is the store's: a monitor that starts with other thresholds
judges what was kept by its own from then on.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from fourscore.core import ConfigError, Rubric, suggest_known
from fourscore.monitor.judgement import Judgement, Thresholds
from fourscore.monitor.sample import Sample
from fourscore.monitor.thresholds import Mode
from fourscore.stats.confusion import Confusion
from fourscore.stores.monitor_rows import Raised

Language = Literal["zh"] | None

#: The original words for each status, for readers who compare them.
LABELS = {
    "healthy": "healthy (健康)",
    "warning": "warning (警告)",
    "critical": "critical (紧急)",
    "insufficient_data": "数据不足",
}
#: The two that have always been a dictionary.
LEVELS = ("pass_rate_warning", "pass_rate_critical")


class Knowing:
    """Folds samples into the state of a monitor, and says what the state means."""

    def __init__(
        self,
        rubric: Rubric,
        mode: Mode,
        thresholds: Thresholds | Mapping[str, Any] | None,
        language: Language,
        calibration: Confusion | None = None,
    ) -> None:
        if mode not in ("sequential", "simple"):
            raise ConfigError(f"{mode!r}: expected sequential or simple", field="mode")
        if language not in (None, "zh"):
            raise ConfigError(f"{language!r}: expected zh, or nothing", field="language")
        self.mode, self.language, self.calibration = mode, language, calibration
        self.pass_threshold = rubric.pass_threshold
        self.given = _thresholds(thresholds)
        #: May be edited; what is written there holds from the next sample on.
        self.levels = {name: getattr(self.given, name) for name in LEVELS}

    @property
    def thresholds(self) -> Thresholds:
        kept = {name: getattr(self.given, name) for name in LEVELS}
        if kept == self.levels:
            return self.given
        return _thresholds({**msgspec.structs.asdict(self.given), **self.levels})

    def fold(
        self, state: bytes | None, samples: Sequence[Sample]
    ) -> tuple[bytes, Sequence[Raised]]:
        """The state after these samples, and an alert for each change of a status."""
        judgement = self._judgement(state)
        changes = [change for sample in samples for change in judgement.fold(sample)]
        alerts = [
            Raised(
                stream=change.stream,
                at=change.at,
                open=change.kind != "resolved",
                body=msgspec.json.encode(change),
            )
            for change in changes
        ]
        return msgspec.json.encode(judgement), alerts

    def document(self, state: bytes | None) -> dict[str, Any]:
        """The metrics, with the original labels beside the words where asked."""
        document = self._judgement(state).document(self.calibration)
        if self.language == "zh":
            document["label"] = LABELS.get(document["status"], document["status"])
        return document

    def _judgement(self, state: bytes | None) -> Judgement:
        known = Judgement() if state is None else msgspec.json.decode(state, type=Judgement)
        return known.under(self.thresholds, self.mode, self.pass_threshold)


def _thresholds(given: Thresholds | Mapping[str, Any] | None) -> Thresholds:
    if isinstance(given, Thresholds):
        return given
    fields = dict(given or {})
    for name in fields:
        if name not in Thresholds.__struct_fields__:
            known = suggest_known(str(name), Thresholds.__struct_fields__)
            raise ConfigError(f"no such threshold; {known}", field=f"thresholds.{name}")
    try:
        return Thresholds(**fields)
    except (ValueError, TypeError) as error:
        raise ConfigError(str(error), field="thresholds") from None
