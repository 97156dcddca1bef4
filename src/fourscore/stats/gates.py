"""Gates: conditions on a summary that decide whether a run may pass.

`pass_rate>=0.8`, `factual_accuracy>=70%`, `judge_error==0`, `pass^4>=0.2`, `tag:billing>=0.9`,
`lower(pass_rate)>=0.75`, which tests the lower end of the interval, and for latency, cost, tokens
and steps `p95(latency)<=2s` or `mean(cost)<=0.01`. A value that was not measured fails its gate.
`check` finds a misspelt name before the first case runs.
"""

import re
from collections.abc import Iterable, Mapping
from math import isfinite
from operator import eq, ge, gt, le, lt
from typing import Any, Literal

import msgspec

from fourscore.core import ConfigError, Status
from fourscore.core.errors import suggest_known
from fourscore.core.rubric import SLACK
from fourscore.stats.pass_at_k import choose_ks
from fourscore.stats.run_facts import RUN_FACTS
from fourscore.stats.summary_counters import PERCENTILES

_FORM = re.compile(
    r"(?:(?P<end>lower|upper|mean|max|p\d\d?)\s*\((?P<inner>[^<>=()]+)\)\s*|(?P<name>[^<>=()]+))"
    r"(?P<test>>=|<=|==|>|<)\s*(?P<bound>[-+.\w]+?)\s*(?P<unit>%|ms|s)?",
)
_HELP = "expected NAME>=NUMBER (or >, <=, <, ==), lower(NAME)>=NUMBER or p95(latency)<=NUMBER"
#: The numbers of a run fact that a gate may test.
_OF_FACTS = ("mean", *(f"p{percent}" for percent in PERCENTILES), "max")
_UNITS = {"%": 0.01, "ms": 0.001, "s": 1.0}
_TESTS = {">=": ge, ">": gt, "<=": le, "<": lt, "==": eq}

_WITH_INTERVAL = ("pass_rate", "average_score")
_RATES = (*_WITH_INTERVAL, "coverage")
_COUNTS = ("total_tests", "passed", "failed", "planned", "unmeasured", "not_run", "cases")
_STATUSES = tuple(status.value for status in Status)
_GROUPS = {"tag": "by_tag", "complexity": "by_complexity"}


class GateOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a gate; `value` is None where nothing was measured."""

    gate: str
    met: bool
    value: float | None
    reason: str


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """One parsed condition; `text` is the condition as the user wrote it."""

    text: str
    name: str
    test: Literal[">=", ">", "<=", "<", "=="]
    bound: float
    end: str | None = None

    def check(self, dimensions: Iterable[str], repeats: int = 1) -> None:
        """Raise an error for a name that no summary of this run will have.

        Names of tags and complexities come from the cases and are checked by `evaluate`.
        """
        kind, _, rest = self.name.partition(":")
        if self._is_of_run_fact:
            if self.end not in _OF_FACTS:
                raise self._error(
                    f"there is no {self.end}: {suggest_known(self.end or '', _OF_FACTS)}"
                )
            return
        if self.end not in (None, "lower", "upper"):
            facts = ", ".join(RUN_FACTS)
            raise self._error(f"{self.end}(…) is for {facts}; of rates use lower(…) or upper(…)")
        if kind in _GROUPS and rest:
            self._check_bound(rate=True)
            return
        passes = (
            [f"pass{sign}{k}" for sign in "@^" for k in choose_ks(repeats)] if repeats > 1 else []
        )
        of_dimensions = [*dimensions]
        of_dimensions += [f"dimension:{name}" for name in of_dimensions]
        found = {*_RATES, *_COUNTS, *_STATUSES, *passes, *of_dimensions}
        if self.name not in found and self.name in RUN_FACTS:
            raise self._error(f"test one of {', '.join(_OF_FACTS)}, such as p95({self.name})")
        if self.name not in found:
            raise self._error(f"there is no {self.name!r}: {suggest_known(self.name, found)}")
        counted = self.name in _COUNTS or self.name in _STATUSES
        if self.end and (counted or self.name == "coverage"):
            raise self._error(f"{self.name} has no interval")
        self._check_bound(rate=not counted)

    @property
    def _is_of_run_fact(self) -> bool:
        """Whether this tests a fact such as latency; a dimension may have the same name."""
        return self.name in RUN_FACTS and self.end not in (None, "lower", "upper")

    def evaluate(self, document: Mapping[str, Any]) -> GateOutcome:
        """Return whether a summary's document meets the gate, with the reason."""
        value = self._value(document)
        shown = self.text.partition(self.test)[0].strip()
        if value is None:
            reason = f"{shown} was not measured"
            return GateOutcome(gate=self.text, met=False, value=None, reason=reason)
        if self.test in (">=", "<=", "=="):
            met = abs(value - self.bound) <= SLACK or _TESTS[self.test](value, self.bound)
        else:
            met = abs(value - self.bound) > SLACK and _TESTS[self.test](value, self.bound)
        reason = f"{shown} is {_shown(value, self.bound)}, {'' if met else 'not '}{self.test} "
        reason += f"{self.bound:g}"
        return GateOutcome(gate=self.text, met=met, value=value, reason=reason)

    def _value(self, document: Mapping[str, Any]) -> float | None:
        self.check(document["dimensions"], document["repeats"])
        kind, _, rest = self.name.partition(":")
        if self._is_of_run_fact:
            value = document["run_facts"][self.name][self.end]
            return None if value is None else float(value)
        if kind in _GROUPS and rest:
            groups = document[_GROUPS[kind]]
            if rest not in groups:
                raise self._error(f"no case has the {kind} {rest!r}: {suggest_known(rest, groups)}")
            return self._pick(groups[rest], "pass_rate", "pass_rate_interval")
        if kind == "dimension" and rest:
            return self._pick(document["dimensions"][rest], "average", "interval")
        if self.name in _STATUSES:
            return float(document["statuses"][self.name])
        if self.name in _RATES or self.name in _COUNTS:
            return self._pick(document, self.name, f"{self.name}_interval")
        if self.name in document["dimensions"]:
            return self._pick(document["dimensions"][self.name], "average", "interval")
        sign, k = self.name[4], self.name[5:]
        return self._pick(document[f"pass{sign}k"][k], "rate", "interval")

    def _pick(self, line: Mapping[str, Any], key: str, interval: str) -> float | None:
        if self.end is None:
            return None if line[key] is None else float(line[key])
        ends = line[interval]
        return None if ends is None else float(ends[0 if self.end == "lower" else 1])

    def _check_bound(self, *, rate: bool) -> None:
        if rate and not 0.0 <= self.bound <= 1.0:
            hint = f"; did you mean {self.bound:g}%?" if 1.0 < self.bound <= 100.0 else ""
            raise self._error(f"{self.name} lies between 0 and 1{hint}")

    def _error(self, message: str) -> ConfigError:
        return ConfigError(message, field=f"gate {self.text!r}")


def parse_gate(text: str) -> Gate:
    """Parse a gate such as `pass_rate>=0.8`."""
    match = _FORM.fullmatch(text.strip())
    name = match and (match["inner"] or match["name"]).strip()
    if match is None or not name:
        raise ConfigError(_HELP, field=f"gate {text!r}")
    number = match["bound"]
    try:
        bound = float(number)
    except ValueError:
        bound = float("nan")
    if not isfinite(bound) or "_" in number:
        raise ConfigError(f"{number} is not a number", field=f"gate {text!r}")
    if match["unit"] in ("s", "ms") and name != "latency":
        raise ConfigError(f"{name} is not in seconds", field=f"gate {text!r}")
    test: Any = match["test"]
    return Gate(
        text=text.strip(),
        name=name,
        test=test,
        bound=bound * _UNITS[match["unit"]] if match["unit"] else bound,
        end=match["end"],
    )


def _shown(value: float, bound: float) -> str:
    """Format a value with six digits, with all where rounding would make it equal the bound."""
    short = f"{value:.6g}"
    return repr(value) if float(short) == bound != value else short
