"""Where an answer says something of substance about each aspect."""

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from rubrica.judges.dimensions.coverage.aligning import align
from rubrica.judges.dimensions.coverage.alignment import by_mark, by_place
from rubrica.judges.dimensions.coverage.bibliography import references
from rubrica.judges.dimensions.coverage.direct import direct
from rubrica.judges.dimensions.coverage.homonyms import is_other
from rubrica.judges.dimensions.coverage.passages import Passage, passages, sections, unheaded
from rubrica.judges.dimensions.coverage.plan import Plan, Told
from rubrica.judges.dimensions.coverage.reading import Cover, Read
from rubrica.judges.dimensions.coverage.sole import only
from rubrica.judges.dimensions.coverage.spoken import Spoken
from rubrica.judges.dimensions.coverage.units import Unit, frames, units
from rubrica.judges.dimensions.finding import Sure

#: New words of a sentence that may say several things.
_LONG = 14.0
#: From which score a passage speaks of an aspect without doubt.
_PLAIN = 0.45
#: What is said of an aspect that is not told after all.
_DECLINING = frozenset(("refusal", "promise", "deflecting", "nothing"))
_NONE = frozenset[int]()
#: A clause of at least some length, and up to where a sentence is cut.
_CLAUSE = re.compile(r"[^，,；;]{1,60}(?:[，,；;](?!\s*and\b)|[^，,；;]+|$)")
LONGEST_CUT = 1000


class _Said:
    """The passages that say something, and what the others do to the aspects they name."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.reads: list[Read] = []
        self.declined: set[int] = set()
        self._labelled: dict[tuple[str, ...], frozenset[int]] = {(): _NONE}
        #: Whether names of aspects are listed without more.
        self.listed = False
        self._thin = 0
        #: Where sentences start that answer a part outright: they are about no other.
        self.spent: set[int] = set()

    def read_all(self, pieces: Sequence[Passage]) -> None:
        once = set[str]()
        for passage in pieces:
            if passage.heading or passage.text in once:
                continue
            if (read := self.read(passage)) is not None:
                self.reads.append(read)
                if passage.paragraph >= 0:
                    once.add(passage.text)
        self.listed |= self._thin > 1 and 2 * self._thin >= len(self.reads)

    def read(self, passage: Passage) -> Read | None:
        """The passage with what it tells, if that is anything."""
        plan, labels = self._plan, passage.labels
        told = plan.told(passage.text, labels[-1] if labels and passage.paragraph < 0 else "")
        if told.plain or self._says(told, plan):
            return Read(passage, told, self.labelled(labels))
        return None

    def labelled(self, labels: tuple[str, ...]) -> frozenset[int]:
        """The aspects that some labels name."""
        labelled = self._labelled.get(labels)
        if labelled is None:
            labelled = self._labelled[labels] = _NONE.union(*map(self._plan.named, labels))
        return labelled

    def _says(self, told: Told, plan: Plan) -> bool:
        """Whether a sentence says something after all; what it does to the aspects if not."""
        kind = told.said.kind
        if kind and not (kind == "deflecting" and plan.refers):
            self._drop(told.said, plan)
            return False
        if told.stuffed:
            named = told.speech.named
            if 2 * len(named) <= len(plan.aspects):
                self.declined |= named
            self._list(len(named), plan)
            return False
        if plan.works or (plan.asks_yes_no and told.speech.answers):
            return True
        new = told.fresh or told.said.new or told.said.new_pairs
        if 0.0 < told.fresh < plan.least or not new:
            return False
        if not told.fresh:  # it names an aspect, and no more
            self._thin += 1
        return True

    def cut(self, plan: Plan) -> None:
        """Cuts long sentences into their clauses where there are far fewer than aspects."""
        if 2 * len(self.reads) > len(plan.aspects) or any(read.labelled for read in self.reads):
            return
        self.reads = [
            clause
            for read in self.reads
            for clause in (self._clauses(read) if read.told.fresh >= _LONG else (read,))
        ]

    def _clauses(self, read: Read) -> Iterator[Read]:
        place = read.passage
        for clause in _CLAUSE.finditer(place.text[:LONGEST_CUT]):
            start = place.start + clause.start()
            part = replace(place, text=clause[0], start=start, end=start + len(clause[0]))
            if (found := self.read(part)) is not None:
                yield found

    def _drop(self, said: Spoken, plan: Plan) -> None:
        named = plan.named(said.text, 0.3)
        self._list(len(named), plan)
        # A list of all that is to come declines nothing: it may come.
        few = said.kind != "promise" or 2 * len(named) <= len(plan.aspects)
        if said.kind in _DECLINING and few:
            self.declined |= named

    def _list(self, named: int, plan: Plan) -> None:
        self.listed |= named >= min(3, len(plan.aspects))

    def decline_hollow(self, pieces: Sequence[Passage], plan: Plan) -> None:
        """Declines aspects that head a section or a row which says nothing."""
        under = {label for labels in self._labelled for label in labels}
        empty = {label for labels in {p.labels for p in pieces} for label in labels} - under
        for title in [piece.text.strip("#*_:：.。?？ ") for piece in pieces if piece.heading]:
            if not any(title in label or label in title for label in under):
                empty.add(title)
        for title in empty:
            self.declined |= plan.named(title)


def covers(text: str, plan: Plan) -> list[Cover | None]:
    """For each aspect where it is covered, or None."""
    found: list[Cover | None] = [None] * len(plan.aspects)
    if is_other(plan.kind, plan.question, text):
        return found
    pieces = passages(text)
    if len(found) == 1 and all(piece.heading for piece in pieces):
        pieces = unheaded(text, pieces)
    if cited := references(text):
        text, pieces = cited.out_of(text), [piece for piece in pieces if not cited.has(piece)]
    marked = by_mark(pieces, plan)
    if (told := _by_names(pieces, plan)) is not None:
        found = told
    else:
        said = _Said(plan)
        said.read_all(pieces)
        if len(found) == 1:
            found[0] = only(said.reads, plan)
        elif said.reads:
            if plan.aspects[0].derived and not marked:
                _tell_outright(said, plan, found)
            said.cut(plan)
            _align(said, pieces, plan, frozenset(marked) if marked else None, found)
    for at, span in (marked or by_place(text, plan)).items():
        if found[at] is None:
            found[at] = Cover(*span, "low")
    for at, aspect in enumerate(plan.aspects) if cited else ():
        if cited and found[at] is None and cited.is_asked(aspect.text):
            found[at] = Cover(cited.start, cited.end, "medium")
    return found


def _tell_outright(said: _Said, plan: Plan, found: list[Cover | None]) -> None:
    """Covers the parts of a question that sentences answer outright."""
    for at, read in direct(said.reads, plan, said.declined):
        found[at] = found[at] or _told(read, at)
        said.spent.add(read.passage.start)


def _align(
    said: _Said,
    pieces: Sequence[Passage],
    plan: Plan,
    marked: frozenset[int] | None,
    found: list[Cover | None],
) -> None:
    several, build = units(said.reads, pieces, plan)
    if not several:
        return
    for unit in several:
        _tell(unit, found)
    if build == "sections" and all(unit.labelled or unit.idle for unit in several):
        return  # where every section bears a name, the names say what they are about
    said.decline_hollow(pieces, plan)
    aligned = align(several, build, plan, said.declined, marked, said.listed)
    if not aligned.about and not any(found):
        return
    plain = {at for at, cover in enumerate(found) if cover}
    for unit, aspect in zip(several, aligned.kept(plain, len(found)), strict=True):
        if aspect is None or found[aspect] is not None:
            continue
        if not all(read.passage.start in said.spent for read in unit.reads):
            found[aspect] = _cover(unit, aspect)


def _by_names(pieces: Sequence[Passage], plan: Plan) -> list[Cover | None] | None:
    """What is covered where names of aspects stand over all sections; else None.

    They say what the sections are about. What stands beside them is not read, nor are sections
    whose aspects are covered already.
    """
    groups = sections(pieces) if len(plan.aspects) > 1 else {}
    if len(groups) < 2:
        return None
    said = _Said(plan)
    found: list[Cover | None] = [None] * len(plan.aspects)
    if not all(said.labelled(labels) or frames(labels[-1], title=True) for labels in groups):
        return None
    several = 0
    for labels, group in groups.items():
        labelled = said.labelled(labels)
        if not labelled or (several > 1 and all(found[at] for at in labelled)):
            continue
        reads = [read for passage in group if (read := said.read(passage)) is not None]
        if reads:
            several += 1
            _tell(Unit(reads, sum([read.told.fresh for read in reads]), labels[-1]), found)
    return found if several > 1 else None


def _tell(unit: Unit, found: list[Cover | None]) -> None:
    """Covers the aspects that the label of a unit names."""
    for at in unit.labelled:
        if found[at] is None and _is_told(unit, at):
            found[at] = _cover(unit, at)


def _is_told(unit: Unit, at: int) -> bool:
    """Whether a unit under the name of an aspect tells it."""
    if not unit.tells:
        return False
    return len(unit.labelled) == 1 or max(read.told.speech.value(at) for read in unit.reads) >= 0.3


def _cover(unit: Unit, at: int) -> Cover:
    """The passage of a unit that says most of an aspect."""
    best = unit.reads[0]
    if len(unit.reads) > 1:
        best = max(unit.reads, key=lambda read: read.told.speech.value(at))
    return _told(best, at)


def _told(read: Read, at: int) -> Cover:
    sure: Sure = "high"
    if at not in read.labelled:
        speech = read.told.speech
        sure = "high" if at in speech.literal else "medium"
        sure = sure if speech.value(at) >= _PLAIN else "low"
    return Cover(read.passage.start, read.passage.end, sure)
