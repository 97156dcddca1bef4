"""Operators that change the order or the form of lists and nothing else."""

import re

from fourscore.evolve.mutations.outline import Run, sentences
from fourscore.evolve.mutations.placeholders import blocks
from fourscore.evolve.mutations.situation import MOST, Candidate, Situation, shown

#: Steps that speak of one another by number stay where they are.
_NUMBERED = re.compile(
    r"\b(?:steps?|points?|items?|rules?|no\.)[ \t]{0,4}#?\(?\d|第[ \t]{0,4}[\d一二三四五六七八九十]"
    r"|\b(?:above|below|previous|next|following|former|latter)\b|以上|以下|上述|下述|上一|下一",
    re.IGNORECASE,
)
#: Sentences of a line that is worth a list.
FEWEST = 3


def step_reorder(now: Situation) -> list[Candidate]:
    """Two neighbouring steps change places, or the last one goes first. The steps that the reasons
    speak of most go first."""
    found: list[Candidate] = []
    if _NUMBERED.search(now.parent):
        return found
    for run in now.outline.runs[:MOST]:
        text = "\n".join(item.text for item in run.items)
        if run.kind != "numbered" or len(run.items) < 2 or blocks(text):
            continue
        if any(now.keeps(run.marker(at) + item.text) for at, item in enumerate(run.items)):
            continue
        items = [item.lines for item in run.items]
        for at in range(1, min(len(items), MOST)):
            swapped = [*items[: at - 1], items[at], items[at - 1], *items[at + 1 :]]
            why = f"step {at + 1} goes before step {at}: {shown(items[at][0])}"
            rank = -now.blamed("\n".join(items[at]))
            found.append(Candidate("\n".join(now.outline.rebuilt(run, swapped)), why, rank))
        if len(items) > 2:
            moved = [items[-1], *items[:-1]]
            why = f"the last step goes first: {shown(items[-1][0])}"
            rank = -now.blamed("\n".join(items[-1]))
            found.append(Candidate("\n".join(now.outline.rebuilt(run, moved)), why, rank))
    return found


def format_change(now: Situation) -> list[Candidate]:
    """Bullets for numbers, numbers for bullets, a list for a paragraph of several sentences."""
    found: list[Candidate] = []
    spoken_of = _NUMBERED.search(now.parent) is not None
    for run in now.outline.runs[:MOST]:
        texts = [run.marker(at) + item.text for at, item in enumerate(run.items)]
        if len(run.items) < 2 or any(map(now.keeps, texts)):
            continue
        if run.kind == "numbered" and spoken_of:
            continue
        other = _other(run)
        lines = now.outline.rebuilt(run, [item.lines for item in run.items], other)
        why = f"the list of {len(run.items)} is {other.kind} now: {shown(run.items[0].text)}"
        found.append(Candidate("\n".join(lines), why))
    found += [one for at in now.outline.prose[:MOST] if (one := _listed(now, at)) is not None]
    return found


def _other(run: Run) -> Run:
    if run.kind == "numbered":
        return run._replace(kind="bullets", sign="-")
    items = tuple(item._replace(number=at) for at, item in enumerate(run.items, 1))
    return run._replace(kind="numbered", sign=".", items=items)


def _listed(now: Situation, at: int) -> Candidate | None:
    line = now.outline.lines[at]
    spans = sentences(line)
    if len(spans) < FEWEST or now.keeps(line):
        return None
    indent = line[: len(line) - len(line.lstrip())]
    items = [f"{indent}- {line[start:end].strip()}" for start, end in spans]
    lines = [*now.outline.lines[:at], *items, *now.outline.lines[at + 1 :]]
    why = f"line {at + 1} is a list of {len(items)} now: {shown(line)}"
    return Candidate("\n".join(lines), why)
