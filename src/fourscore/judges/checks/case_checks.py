"""`CaseChecks`: the checks that a case brings along, as one dimension `checks`.

    checks: [{contains: Rome}, {number: 42, tolerance: 0.5}, {criterion: The answer is polite.}]

In each entry exactly one key is the name of a built-in check, and its value the check's main option
(`true` for none); the other keys are its options, and `weight`. Cases are data: they name checks of
this package only, never code.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal

import msgspec

from fourscore.core import (
    Case,
    CaseError,
    ConfigError,
    Dimension,
    Rubric,
    Signal,
    Trace,
    Usage,
    thaw,
)
from fourscore.core.errors import suggest_known
from fourscore.core.extras import MissingExtraError
from fourscore.core.frozen import EMPTY
from fourscore.core.judge import Runs, get_runs
from fourscore.executors.portal import require_loop, run_without_loop
from fourscore.formats.validation import ConversionError, convert_value
from fourscore.judges.checks import CHECKS
from fourscore.judges.checks.check import Check, shorten

NAME = "checks"
#: The check that asks a model, and the option that its judge takes.
CRITERION = "criterion"
Combine = Literal["all", "any", "weighted"]
#: Maximum number of failed checks that a reason names.
_NAMED = 3


class CaseChecks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Judges an answer by the checks that its case brings along.

    combine: `all` (default) passes if every check passes, `any` if one does; `weighted` is the
        weighted mean of their values, by the key `weight` of each (1)
    model: the model that answers `criterion`, such as openai:gpt-4o-mini
    settings: settings of that model, such as its base_url

    Example: {judge: checks, with: {combine: weighted}}
    """

    combine: Combine = "all"
    model: Any = None
    settings: dict[str, Any] = EMPTY

    def __post_init__(self) -> None:
        if self.model is not None:
            self._make_criterion({"text": "x"})  # a mistake in the model's name is found now

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Runs:
        return "inline" if self.model is None else "asks"

    @property
    def models(self) -> tuple[str, ...]:
        return () if self.model is None else self._make_criterion({"text": "x"}).models

    def most(self, case: Case) -> Usage:
        """Return the highest usage of judging one trace of the case."""
        total = Usage()
        for _, judge in self.list_checks(case):
            if not isinstance(judge, Check):
                total += judge.most(case)
        return total

    def list_checks(self, case: Case) -> list[tuple[float, Any]]:
        """Return the weight and the judge of each check; a `CaseError` names a wrong one."""
        for place, turn in enumerate(case.turns):
            self._read_checks(case.id, turn.checks, f"turns[{place}].")
        return self._read_checks(case.id, case.checks, "")

    def _read_checks(
        self, case_id: str, checks: Sequence[Mapping[str, Any]], above: str
    ) -> list[tuple[float, Any]]:
        found = []
        for place, entry in enumerate(checks):
            where = f"{above}checks[{place}]"
            try:
                found.append(self._read_entry(entry))
            except MissingExtraError:
                raise
            except ConfigError as error:
                field = f"{where}.{error.field}" if error.field else where
                raise CaseError(case_id, field, error.message) from None
        return found

    def _read_entry(self, entry: Mapping[str, Any]) -> tuple[float, Any]:
        options = {key: value for key, value in entry.items() if key != "weight"}
        weight = entry.get("weight", 1.0)
        if isinstance(weight, bool) or not isinstance(weight, int | float) or weight < 0:
            raise ConfigError("expected a number of at least 0", field="weight")
        named = [key for key in options if key in CHECKS or key == CRITERION]
        if len(named) != 1:
            raise ConfigError(_explain_names(options, named))
        if named[0] == CRITERION:
            return float(weight), self._make_criterion(options)
        return float(weight), make_check(named[0], msgspec.json.encode(thaw(options)).decode())

    def _make_criterion(self, options: Mapping[str, Any]) -> Any:
        from fourscore.judges.llm.criteria import Criteria

        text, rest = options.get(CRITERION, options.get("text")), dict(options)
        for key in (CRITERION, "text"):
            rest.pop(key, None)
        if self.model is None:
            message = "it asks a model: name one with --judge-model, such as openai:gpt-4o-mini"
            raise ConfigError(message, field=CRITERION)
        if not isinstance(text, str) or not text.strip():
            raise ConfigError("expected a sentence about the answer", field=CRITERION)
        unknown = rest.keys() - {"expect", "form", "soft", "language"}
        if unknown:
            raise ConfigError("unknown option", field=min(unknown))
        criterion = {"text": text, **({"expect": rest.pop("expect")} if "expect" in rest else {})}
        given = {"model": self.model, "settings": self.settings, "criteria": [criterion], **rest}
        try:
            return convert_value(given, Criteria)
        except ConversionError as error:
            raise ConfigError(error.message, field=CRITERION) from None

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        if not case.checks:
            return (Signal(name=NAME, reason="the case has no checks"),)
        measured = []
        for weight, judge in self.list_checks(case):
            if get_runs(judge) == "thread":
                require_loop()
                (signal,) = await asyncio.to_thread(run_without_loop, judge.judge(case, trace))
            else:
                (signal,) = await judge.judge(case, trace)
            measured.append((weight, signal))
        return (combine_signals(measured, self.combine),)


def add_case_checks(rubric: Rubric, model: str | None = None) -> Rubric:
    """Return the rubric with a dimension `checks` of weight 1, unless it has one already.

    It is optional: cases without checks are judged as if it were not there.
    """
    if any(isinstance(line.judge, CaseChecks) for line in rubric.dimensions):
        return rubric
    if any(line.name == NAME for line in rubric.dimensions):
        message = "cases have checks of their own: give this dimension another name"
        raise ConfigError(message, field=f"dimensions.{NAME}")
    own = Dimension(name=NAME, judge=CaseChecks(model=model), weight=1.0, optional=True)
    return msgspec.structs.replace(rubric, dimensions=(*rubric.dimensions, own))


def combine_signals(measured: Sequence[tuple[float, Signal]], combine: Combine) -> Signal:
    """Return one signal for the checks of a case; a check that does not apply leaves it."""
    counted = [(weight, signal) for weight, signal in measured if signal.value is not None]
    usage = sum((one.usage for _, one in measured if one.usage is not None), Usage())
    spent = None if usage.is_nothing else usage
    if not counted:
        reasons = "; ".join(f"{one.name}: {one.reason}" for _, one in measured)
        return Signal(name=NAME, reason=reasons, usage=spent)
    passes = [_has_passed(signal) for _, signal in counted]
    total = sum(weight for weight, _ in counted)
    if combine == "weighted" and total:
        value = sum(weight * (signal.value or 0.0) for weight, signal in counted) / total
        passed = None
    else:
        passed = any(passes) if combine == "any" else all(passes)
        value = float(passed)
    failed = [signal for (_, signal), ok in zip(counted, passes, strict=True) if not ok]
    reason = f"{len(counted) - len(failed)} of {len(counted)} checks pass"
    if failed:
        more = f" and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
        named = "; ".join(f"{one.name}: {one.reason}" for one in failed[:_NAMED])
        reason += f"; {named}{more}"
    if out := [one.name for _, one in measured if one.value is None]:
        reason += f"; not applicable: {', '.join(out)}"
    return Signal(
        name=NAME,
        value=min(1.0, value),
        passed=passed,
        reason=reason,
        evidence=tuple(piece for _, one in counted for piece in one.evidence)[:20],
        usage=spent,
    )


def _has_passed(signal: Signal) -> bool:
    """Whether a check passed; a criterion, which does not decide, passes from 0.5 on."""
    return (signal.value or 0.0) >= 0.5 if signal.passed is None else signal.passed


@lru_cache(maxsize=1024)
def make_check(name: str, options: str) -> Check:
    """Return the check of that name; `options` is the JSON of its entry in a case."""
    module, _, attribute = CHECKS[name].partition("->")
    kind: type[Check] = getattr(import_module(module), attribute)
    entry: dict[str, Any] = msgspec.json.decode(options)
    value = entry.pop(name)
    if kind.main:
        if kind.main in entry and kind.main != name:
            raise ConfigError(f"it is the value of {name} already", field=kind.main)
        if value is not True:
            entry[kind.main] = _read_text_cell(value, kind)
    elif value is not True:
        raise ConfigError(f"expected true, got {shorten(str(value))}", field=name)
    try:
        check: Check = convert_value(entry, kind)
    except ConversionError as error:
        field = name if error.field in (None, kind.main) else error.field
        raise ConfigError(error.message, field=field) from None
    except ConfigError as error:
        field = name if error.field in (None, kind.main) else error.field
        raise ConfigError(error.message, field=field) from None
    return check


def _read_text_cell(value: Any, kind: type[Check]) -> Any:
    """Return a text as the number that an option takes, as in a cell of a CSV file."""
    if not isinstance(value, str):
        return value
    wanted = next(one.type for one in msgspec.structs.fields(kind) if one.name == kind.main)
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError:
        try:
            return msgspec.convert(value, wanted, strict=False)
        except msgspec.ValidationError:
            return value  # converting the whole entry explains it
    return value


def _explain_names(options: Mapping[str, Any], named: Sequence[str]) -> str:
    if named:
        return f"one entry is one check, but this names {' and '.join(sorted(named))}"
    if not options:
        return "expected the name of a check"
    first = next(iter(options))
    return f"{first!r} is no check: {suggest_known(str(first), [*CHECKS, CRITERION])}"
