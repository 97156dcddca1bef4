"""Operators on constraints: add one, take one away, give one more weight."""

import re
from collections import Counter
from typing import NamedTuple

from fourscore.evolve.mutations.outline import Run, sentences
from fourscore.evolve.mutations.situation import MOST, Candidate, Situation, shown
from fourscore.evolve.mutations.templates import OF_SIGNAL, TROUBLES

_CONSTRAINT = re.compile(
    r"\b(?:must|never|always|do not|don't|only|avoid|should|ensure|make sure|be sure|at most"
    r"|at least|no more than|required|without|keep)\b"
    r"|必须|不要|禁止|不得|务必|应当|只能|避免|确保|最多|至多|至少|不能|严禁|一律",
    re.IGNORECASE,
)
_STRESSED = re.compile(r"important|重要|\*\*|__", re.IGNORECASE)
STRESS = {"en": "Important: ", "zh": "重要："}
#: Characters of a constraint; what is longer says more than one thing.
LONGEST = 400


class Constraint(NamedTuple):
    """One line or sentence that demands something: an item of a list, else a span of a line."""

    text: str
    run: Run | None
    at: int
    span: tuple[int, int] = (0, 0)


def constraints(now: Situation) -> list[Constraint]:
    """Those that may be touched."""
    found = [
        Constraint(item.text, run, at)
        for run in now.outline.runs
        for at, item in enumerate(run.items)
        if not now.keeps(run.marker(at) + item.text)
    ]
    for at in now.outline.prose:
        line = now.outline.lines[at]
        if not now.keeps(line):
            found += [Constraint(line[a:b], None, at, (a, b)) for a, b in sentences(line)]
    short = [one for one in found if len(one.text) <= LONGEST]
    return [one for one in short if _CONSTRAINT.search(one.text) is not None][:MOST]


def constraint_add(now: Situation) -> list[Candidate]:
    """A line against the commonest kind of trouble, where the other constraints stand."""
    words = " ".join(now.parent.lower().split())
    held = Counter(one.run for one in constraints(now) if one.run is not None)
    home = max(held, key=lambda run: (held[run], -run.items[0].start), default=None)
    return [
        Candidate(_added(now, home, line), f"{why}: {line}", rank)
        for rank, line, why in _lines(now)
        if " ".join(line.lower().split()) not in words
    ]


def _lines(now: Situation) -> list[tuple[float, str, str]]:
    """Lines of the owner's, and those against the troubles of the reasons and of the signal."""
    own = [(-float("inf"), line, "a constraint to be tried") for line in now.constraints]
    counted: Counter[str] = Counter()
    for failure in now.failures:
        said = " ".join([failure.reason, *(one.reason for one in failure.complaints)]).lower()
        counted.update(name for name, (rule, _) in TROUBLES.items() if rule.search(said))
    for place, name in enumerate(OF_SIGNAL.get(now.signal, ())):
        counted[name] += max(1, len(now.failures) // (place + 1))
    shipped = [
        (-float(counted[name]) + place / 10, line, f"a line about {name}")
        for name, (_, texts) in TROUBLES.items()
        for place, line in enumerate(texts[now.language])
    ]
    return own + shipped


def _added(now: Situation, home: Run | None, line: str) -> str:
    """At the end of the list with the most constraints, else at the end."""
    if home is None:
        return now.with_part(line)
    items = [*(item.lines for item in home.items), (line,)]
    return "\n".join(now.outline.rebuilt(home, items))


def constraint_remove(now: Situation) -> list[Candidate]:
    """One constraint less; first those that the reasons do not speak of. One that fills something
    in stays."""
    found: list[Candidate] = []
    for one in constraints(now):
        if now.fills(one.text):
            continue
        why = f"without the constraint: {shown(one.text)}"
        found.append(Candidate(_without(now, one), why, now.blamed(one.text)))
    return found


def _without(now: Situation, one: Constraint) -> str:
    lines = list(now.outline.lines)
    if one.run is None:
        start, end = one.span
        rest = lines[one.at][:start] + lines[one.at][end:]
        lines[one.at : one.at + 1] = [rest.rstrip()] if rest.strip() else []
        return "\n".join(lines)
    items = [item.lines for at, item in enumerate(one.run.items) if at != one.at]
    return "\n".join(now.outline.rebuilt(one.run, items))


def emphasis_shift(now: Situation) -> list[Candidate]:
    """The constraint that the reasons speak of most goes to the top of its list, or is marked."""
    found: list[Candidate] = []
    for one in constraints(now):
        blame = -now.blamed(one.text)
        if not _STRESSED.search(one.text):
            why = f"marked as important: {shown(one.text)}"
            found.append(Candidate(_marked(now, one), why, blame))
        if one.run is not None and one.run.kind == "bullets" and one.at:
            items = [item.lines for item in one.run.items]
            moved = [items[one.at], *items[: one.at], *items[one.at + 1 :]]
            why = f"at the top of its list: {shown(one.text)}"
            text = "\n".join(now.outline.rebuilt(one.run, moved))
            found.append(Candidate(text, why, blame))
    return found


def _marked(now: Situation, one: Constraint) -> str:
    stress = STRESS[now.language]
    if one.run is not None:
        items = [item.lines for item in one.run.items]
        first, *others = items[one.at]
        items[one.at] = (stress + first, *others)
        return "\n".join(now.outline.rebuilt(one.run, items))
    lines = list(now.outline.lines)
    line, start = lines[one.at], one.span[0]
    start += len(line[start:]) - len(line[start:].lstrip())
    lines[one.at] = f"{line[:start]}{stress}{line[start:]}"
    return "\n".join(lines)
