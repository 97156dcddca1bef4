"""Failed cases: what a mutation may know of them, and how they are shown to a model.

Except for the numbers, everything in a `Failure` was written by others, the agent included. Its
length is bounded here, and `show_failures` puts every text into a fence with one random number.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import NamedTuple

import msgspec

from fourscore.core import Case, ConfigError, Score, Trace
from fourscore.core.trace import as_text
from fourscore.evolve.mutations.prompt_text import blocks, places
from fourscore.judges.llm.injection_defences import fence_texts
from fourscore.judges.llm.prompts import Language, read_prompt

#: Characters of a text that are kept, pieces of evidence for each signal, and signals.
LONGEST, PIECES, SIGNALS = 4000, 3, 20


class Complaint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one judge said."""

    signal: str
    value: float
    reason: str = ""
    evidence: tuple[str, ...] = ()


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`complaints` begin with the weakest signal; an agent that broke down has a `reason` only."""

    case: str
    input: str = ""
    output: str = ""
    value: float = 0.0
    reason: str = ""
    complaints: tuple[Complaint, ...] = ()

    @classmethod
    def of(cls, case: Case, trace: Trace, score: Score) -> "Failure":
        """What was measured of one attempt. A ranking says nothing about it alone."""
        measured = [one for one in score.signals if one.value is not None and not one.relative]
        measured.sort(key=lambda one: (one.value, one.name))
        return cls(
            case=case.id,
            input=as_text(case.input)[:LONGEST],
            output=trace.answer[:LONGEST],
            value=score.value or 0.0,
            reason=score.reason[:LONGEST],
            complaints=tuple(
                Complaint(
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
        return {one.signal: one.value for one in self.complaints}

    @property
    def words(self) -> tuple[str, ...]:
        """All that others wrote in it."""
        said = [text for one in self.complaints for text in (one.reason, *one.evidence)]
        return tuple(text for text in (self.input, self.output, self.reason, *said) if text)


class Sorted(msgspec.Struct, frozen=True):
    """The cases of a run by how they ended. Those that were not measured are in neither part."""

    failures: tuple[Failure, ...] = ()
    passed: tuple[Case, ...] = ()


def sort_cases(rows: Iterable[tuple[Case, Trace, Score]]) -> Sorted:
    """Failures, and the cases that passed in every measured attempt."""
    failures: list[Failure] = []
    failed: set[str] = set()
    passed: dict[str, Case] = {}
    for case, trace, score in rows:
        if score.passed is None:
            continue
        if score.passed:
            passed.setdefault(case.id, case)
        else:
            failures.append(Failure.of(case, trace, score))
            failed.add(case.id)
    return Sorted(tuple(failures), tuple(c for c in passed.values() if c.id not in failed))


def weakest(failures: Sequence[Failure]) -> tuple[str, float] | None:
    """The signal with the lowest mean over the failures, and the mean; two alike go by name."""
    values: dict[str, list[float]] = {}
    for failure in failures:
        for name, value in failure.signals.items():
            values.setdefault(name, []).append(value)
    means = [(fmean(found), name) for name, found in values.items()]
    if not means:
        return None
    mean, name = min(means)
    return name, mean


SHIPPED = Path(__file__).parent / "prompts"
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


class Shown(NamedTuple):
    """Texts in fences. `failures` has the fields of each failure apart."""

    number: str
    parent: str
    keep: str
    failures: tuple[Mapping[str, str], ...]
    passed: tuple[str, ...]


def show(
    parent: str,
    failures: Sequence[Failure],
    passed: Sequence[Case] = (),
    *,
    required: Sequence[str] = (),
    language: Language = "en",
    limit: int = 1500,
) -> Shown:
    """The prompt whole, everything else cut to `limit` characters."""
    titles = _TITLES[language]
    keep = [*sorted(places(parent)), *dict.fromkeys(blocks(parent)), *required]
    texts = {"parent": parent, "keep": "\n".join(keep)}
    for at, one in enumerate(failures, 1):
        found = {"input": one.input, "output": one.output, "remarks": remarks(one)}
        texts |= {f"{name} {at}": _cut(found[name], limit) for name in FIELDS}
    for at, case in enumerate(passed, 1):
        asked, wanted = as_text(case.input), as_text(case.expected)
        texts[f"task {at}"] = _cut(asked, limit) + (f"\n→ {_cut(wanted, limit)}" if wanted else "")
    named = {key: " ".join([titles[key.split()[0]], *key.split()[1:]]) for key in texts}
    most = max(len(parent), len(texts["keep"]), 2 * limit + 4)
    fenced = fence_texts(texts, most, named)
    return Shown(
        fenced.number,
        fenced.texts["parent"],
        fenced.texts["keep"],
        tuple(
            {name: fenced.texts[f"{name} {at}"] for name in FIELDS}
            for at in range(1, len(failures) + 1)
        ),
        tuple(fenced.texts[f"task {at}"] for at in range(1, len(passed) + 1)),
    )


def remarks(failure: Failure) -> str:
    """What the judges said, the weakest signal first, with what they quoted."""
    lines = [failure.reason] if failure.reason else []
    for one in failure.complaints:
        lines.append(f"{one.signal} {100 * one.value:.0f} of 100: {one.reason}")
        lines += [f"  “{text}”" for text in one.evidence]
    return "\n".join(lines)


def worst(failures: Sequence[Failure], signal: str, most: int, rng: Random) -> list[Failure]:
    """The failures that show most of a signal; chance where they are even, so that others are
    seen the next time."""
    drawn = [(one.signals.get(signal, one.value), rng.random(), one) for one in failures]
    drawn.sort(key=lambda entry: entry[:2])
    return [one for _, _, one in drawn[:most]]


def folder_of(name: str, language: Language, own: str | None) -> str:
    """Where the words of a prompt are: in a folder of one's own where it has them, else here."""
    if own is None:
        return str(SHIPPED)
    folder = Path(own).expanduser()
    if not folder.is_dir():
        raise ConfigError("no such folder", file=str(folder), field="prompt_folder")
    has = any((folder / part / f"{name}.md").is_file() for part in (language, "."))
    if not has:
        return str(SHIPPED)
    found = read_prompt(name, language, str(folder))
    known = read_prompt(name, language, str(SHIPPED)).placeholders
    if odd := sorted(found.placeholders - known):
        message = f"{{{{{odd[0]}}}}} is not filled in here; known: {', '.join(sorted(known))}"
        raise ConfigError(message, file=found.file)
    return str(folder)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
