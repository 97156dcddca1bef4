"""Failed cases: what a proposer gets to know about them, and how they are shown to a model.

The texts in a `Failure` come from outside, for example from the agent, and may contain injected
instructions. They are cut here, and `fence_failures` puts each into a fence with a random number.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import NamedTuple

import msgspec

from fourscore.core import Case, ConfigError, Score, Trace
from fourscore.core.trace import as_text
from fourscore.evolve.mutations.prompt_text import find_blocks, find_placeholders
from fourscore.judges.llm.injection_defences import fence_texts
from fourscore.judges.llm.prompts import Language, read_prompt

#: The most characters of a text, pieces of evidence for each signal, and signals of a failure.
LONGEST, PIECES, SIGNALS = 4000, 3, 20


class Remark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one judge found: the value, the reason and the quoted evidence."""

    signal: str
    value: float
    reason: str = ""
    evidence: tuple[str, ...] = ()


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A failed case; `remarks` begin with the weakest signal. A crash has only a `reason`."""

    case: str
    input: str = ""
    output: str = ""
    value: float = 0.0
    reason: str = ""
    remarks: tuple[Remark, ...] = ()

    @classmethod
    def from_score(cls, case: Case, trace: Trace, score: Score) -> "Failure":
        """Return the failure of one attempt, without signals that rank it among other attempts."""
        measured = [one for one in score.signals if one.value is not None and not one.relative]
        measured.sort(key=lambda one: (one.value, one.name))
        return cls(
            case=case.id,
            input=as_text(case.input)[:LONGEST],
            output=trace.answer[:LONGEST],
            value=score.value or 0.0,
            reason=score.reason[:LONGEST],
            remarks=tuple(
                Remark(
                    signal=one.name,
                    value=one.value or 0.0,
                    reason=one.reason[:LONGEST],
                    evidence=tuple(piece.text[:LONGEST] for piece in one.evidence[:PIECES]),
                )
                for one in measured[:SIGNALS]
            ),
        )

    @property
    def signals(self) -> dict[str, float]:
        return {one.signal: one.value for one in self.remarks}

    @property
    def reasons(self) -> str:
        """All reasons as one text."""
        return " ".join([self.reason, *(one.reason for one in self.remarks)])

    @property
    def foreign_texts(self) -> tuple[str, ...]:
        """All texts that come from outside: input, output, reasons and evidence."""
        remarks = [text for one in self.remarks for text in (one.reason, *one.evidence)]
        return tuple(text for text in (self.input, self.output, self.reason, *remarks) if text)


class SortedCases(msgspec.Struct, frozen=True):
    """The failures and the passed cases of a run, without cases that were not measured."""

    failures: tuple[Failure, ...] = ()
    passed: tuple[Case, ...] = ()


def sort_cases(rows: Iterable[tuple[Case, Trace, Score]]) -> SortedCases:
    """Return the failures, and the cases that passed in every measured attempt."""
    failures: list[Failure] = []
    failed: set[str] = set()
    passed: dict[str, Case] = {}
    for case, trace, score in rows:
        if score.passed is None:
            continue
        if score.passed:
            passed.setdefault(case.id, case)
        else:
            failures.append(Failure.from_score(case, trace, score))
            failed.add(case.id)
    return SortedCases(tuple(failures), tuple(c for c in passed.values() if c.id not in failed))


def find_weakest_signal(failures: Sequence[Failure]) -> tuple[str, float] | None:
    """Return the signal with the lowest mean over the failures, and that mean; ties go by name."""
    values: dict[str, list[float]] = {}
    for failure in failures:
        for name, value in failure.signals.items():
            values.setdefault(name, []).append(value)
    means = [(fmean(found), name) for name, found in values.items()]
    if not means:
        return None
    mean, name = min(means)
    return name, mean


BUILT_IN = Path(__file__).parent / "prompts"
_TITLES = {
    "en": {
        "parent": "PROMPT",
        "keep": "KEEP",
        "input": "INPUT",
        "output": "OUTPUT",
        "remarks": "REMARKS",
        "task": "TASK THAT WENT WELL",
    },
    "zh": {
        "parent": "提示词",
        "keep": "保留",
        "input": "输入",
        "output": "输出",
        "remarks": "意见",
        "task": "成功的任务",
    },
}
#: What each field of a failure is called where it is shown.
FIELDS = ("input", "output", "remarks")


class FencedFailures(NamedTuple):
    """The texts for a model, each in its fence. `failures` has the fields of each failure."""

    number: str
    parent: str
    keep: str
    failures: tuple[Mapping[str, str], ...]
    passed: tuple[str, ...]


def fence_failures(
    parent: str,
    failures: Sequence[Failure],
    passed: Sequence[Case] = (),
    *,
    required: Sequence[str] = (),
    language: Language = "en",
    limit: int = 1500,
) -> FencedFailures:
    """Put the prompt and its failures into fences; failures are cut to `limit` characters."""
    titles = _TITLES[language]
    keep = [*sorted(find_placeholders(parent)), *dict.fromkeys(find_blocks(parent)), *required]
    texts = {"parent": parent, "keep": "\n".join(keep)}
    for at, one in enumerate(failures, 1):
        found = {"input": one.input, "output": one.output, "remarks": format_remarks(one)}
        texts |= {f"{name} {at}": _cut(found[name], limit) for name in FIELDS}
    for at, case in enumerate(passed, 1):
        asked, wanted = as_text(case.input), as_text(case.expected)
        texts[f"task {at}"] = _cut(asked, limit) + (f"\n→ {_cut(wanted, limit)}" if wanted else "")
    named = {key: " ".join([titles[key.split()[0]], *key.split()[1:]]) for key in texts}
    most = max(len(parent), len(texts["keep"]), 2 * limit + 4)
    fenced = fence_texts(texts, most, named, own=("parent", "keep"))
    return FencedFailures(
        fenced.number,
        fenced.texts["parent"],
        fenced.texts["keep"],
        tuple(
            {name: fenced.texts[f"{name} {at}"] for name in FIELDS}
            for at in range(1, len(failures) + 1)
        ),
        tuple(fenced.texts[f"task {at}"] for at in range(1, len(passed) + 1)),
    )


def format_remarks(failure: Failure) -> str:
    """Return the judges' remarks as text, the weakest signal first, with their evidence."""
    lines = [failure.reason] if failure.reason else []
    for one in failure.remarks:
        lines.append(f"{one.signal} {100 * one.value:.0f} of 100: {one.reason}")
        lines += [f"  “{text}”" for text in one.evidence]
    return "\n".join(lines)


def choose_worst(failures: Sequence[Failure], signal: str, most: int, rng: Random) -> list[Failure]:
    """Return the `most` failures with the lowest values of a signal; ties are in random order."""
    drawn = [(one.signals.get(signal, one.value), rng.random(), one) for one in failures]
    drawn.sort(key=lambda entry: entry[:2])
    return [one for _, _, one in drawn[:most]]


def find_prompt_folder(name: str, language: Language, own: str | None) -> str:
    """Return the folder of a prompt file: the user's where it has the file, else the built-in."""
    if own is None:
        return str(BUILT_IN)
    folder = Path(own).expanduser()
    if not folder.is_dir():
        raise ConfigError("no such folder", file=str(folder), field="prompt_folder")
    has = any((folder / part / f"{name}.md").is_file() for part in (language, "."))
    if not has:
        return str(BUILT_IN)
    found = read_prompt(name, language, str(folder))
    known = read_prompt(name, language, str(BUILT_IN)).placeholders
    if odd := sorted(found.placeholders - known):
        message = f"unknown placeholder {{{{{odd[0]}}}}}; known: {', '.join(sorted(known))}"
        raise ConfigError(message, file=found.file)
    return str(folder)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
