"""Which calls of a run were wasted, and why: repeats, loops, rewordings, errors.

One pass over the calls. Each call is remembered under the digest of what it asks, so that time and
memory are linear in the run.
"""

from collections.abc import Container, Sequence
from typing import Literal, NamedTuple

from rubrica.judges.dimensions.calling.calls import Call, respelt, terms_of, values_of

Kind = Literal["needless", "repeat", "retry", "loop", "reworded", "error", "mistake"]
#: Longest cycle of calls that is looked for.
PERIOD = 4
#: The same step in a row, with the same outcome, that may still be a walk and not a loop.
STEPS = 3
#: Bytes of a result that two questions do not share by chance: `true` is no sign of sameness.
TELLING = 12
#: Share of the shorter query that another has to hold to be the same in other words.
ALIKE, ALIKE_WITH_RESULT = 0.5, 0.3


class Waste(NamedTuple):
    """`cost` is 1 for a call that could have been left out, 0.5 for a bump on the way."""

    step: int
    kind: Kind
    cost: float
    #: The step that it repeats.
    of: int | None = None


class _Seen:
    """The last time that something was asked."""

    __slots__ = ("attempts", "call", "order", "origin", "polls", "same")

    def __init__(self, call: Call, order: int) -> None:
        self.call, self.order = call, order
        #: The step whose answer still stands, or that failed first.
        self.origin = call.step
        self.attempts = 1 if call.failure else 0
        self.same = 0
        #: Polls that are wasted unless the state changes after all.
        self.polls: list[int] = []


class Scan:
    """The state of the pass."""

    def __init__(self) -> None:
        self.waste: dict[int, Waste] = {}
        self.seen: dict[bytes, _Seen] = {}
        #: Searches that gave the same, by their tool: the first, and one in other words.
        self.queries: dict[tuple[str, bytes], list[Call]] = {}
        #: The last of the calls that gave the same, by their tool.
        self.gave: dict[tuple[str, bytes], tuple[int, Call]] = {}
        #: What was asked by the step, whatever its capitals.
        self.spelt: dict[int, bytes] = {}
        #: When something was last written, and when a value was last named in a write.
        self.wrote, self.written = -1, dict[str, int]()
        self.undid = -1

    def take(self, order: int, call: Call) -> None:
        before = self.seen.get(call.key)
        if before is None:
            self.seen[call.key] = _Seen(call, order)
            found = self._respelt(order, call) or self._reworded(call) or _first_failure(call)
        else:
            found = self._again(before, order, call)
            if found is None and call.result != before.call.result:
                before.origin = call.step
            before.call, before.order = call, order
        if found is not None:
            self.waste[order] = found
        if call.nature.writes and not call.failure and found is None:
            self.wrote = order
            self.undid = order if call.nature.undoes else self.undid
            for value in values_of(call.plain):
                self.written[value] = order

    def _again(self, before: _Seen, order: int, call: Call) -> Waste | None:
        if before.call.failure:
            return self._retried(before, call)
        if call.failure:
            before.attempts = 1
            if call.nature.once:  # a second booking is refused: it ought not to have been tried
                return Waste(call.step, "repeat", 1.0, before.origin)
            return _first_failure(call)
        same = call.result == before.call.result
        if not same or call.nature.moves:
            return self._moved(before, call, same=same)
        if self._excused(before, call):
            return None
        if call.pending or call.nature.polls:
            before.polls.append(order)
            if call.pending and len(before.polls) == 1:
                return None  # to look once more is fair, whatever comes of it
        return Waste(call.step, "repeat", 1.0, before.origin)

    def _moved(self, before: _Seen, call: Call, *, same: bool) -> Waste | None:
        """Something else came of it, or the call is a step that may be taken again."""
        if not same:
            for order in before.polls:
                self.waste.pop(order, None)
            before.polls.clear()
        before.same = before.same + 1 if same else 0
        if before.same >= STEPS:
            return Waste(call.step, "loop", 1.0, before.origin)
        if call.nature.once and not call.nature.moves and not self._excused(before, call):
            return Waste(call.step, "repeat", 1.0, before.origin)
        return None

    def _retried(self, before: _Seen, call: Call) -> Waste | None:
        """One retry is sensible where the error may pass; the third attempt is a loop."""
        if not call.failure:
            before.attempts = 0
            return None
        if self.wrote > before.order:
            before.attempts = 1
            return _first_failure(call)
        before.attempts += 1
        if before.attempts > 2:
            return Waste(call.step, "loop", 1.0, before.origin)
        cost = {"transient": 0.0, "mistake": 1.0}.get(before.call.failure, 0.5)
        return Waste(call.step, "retry", cost, before.origin) if cost else None

    def _excused(self, before: _Seen, call: Call) -> bool:
        """Whether a write since then is a reason to ask again: one that names the same thing."""
        if self.wrote <= before.order:
            return False
        if call.mute or call.nature.checks:
            return True
        if call.nature.writes and self.undid > before.order:
            return True
        values = values_of(call.plain)
        return not values or any(self.written.get(v, -1) > before.order for v in values)

    def _respelt(self, order: int, call: Call) -> Waste | None:
        """`Lisbon` for `lisbon`, "3" for 3: the same question where it has the same answer."""
        bare = call.failure or call.empty or call.mute or len(call.result) < TELLING
        if bare or call.nature.writes or call.nature.moves:
            return None
        slot = (call.name, call.result)
        at, other = self.gave.get(slot, (-1, None))
        self.gave[slot] = (order, call)
        if other is None or self.wrote > at or self._spelling(call) != self._spelling(other):
            return None
        return Waste(call.step, "repeat", 1.0, other.step)

    def _spelling(self, call: Call) -> bytes:
        if call.step not in self.spelt:
            self.spelt[call.step] = respelt(call)
        return self.spelt[call.step]

    def _reworded(self, call: Call) -> Waste | None:
        """A search in other words that gives the same, or nothing, once more."""
        if not call.nature.searches or call.failure or call.mute:
            return None
        if not call.empty and len(call.result) < TELLING:
            return None
        slot = (call.name, b"" if call.empty else call.result)
        query = self.queries.setdefault(slot, [])
        if not query:
            query.append(call)
            return None
        least = ALIKE if call.empty else ALIKE_WITH_RESULT
        terms = terms_of(call.plain)
        if not any(_alike(terms, terms_of(each.plain), least) for each in query):
            return None
        if len(query) == 1:  # to put it another way once is sensible
            query.append(call)
            return None
        return Waste(call.step, "reworded", 1.0, query[0].step)


def _first_failure(call: Call) -> Waste | None:
    if not call.failure:
        return None
    if call.failure == "mistake":
        return Waste(call.step, "mistake", 1.0)
    return Waste(call.step, "error", 0.5)


def _alike(
    one: tuple[frozenset[str], frozenset[str]],
    other: tuple[frozenset[str], frozenset[str]],
    least: float,
) -> bool:
    """Near the same words and the very same numbers: another date is another question."""
    shared, shorter = len(one[0] & other[0]), min(len(one[0]), len(other[0]))
    if one[1] != other[1] or shorter == 0:
        return False
    return shared >= min(2, shorter) and shared / shorter >= least


def wasted(calls: Sequence[Call], needless: Container[int]) -> list[Waste]:
    """The wasted calls in order; `needless` are places in `calls` that nobody asked for."""
    scan = Scan()
    for order, call in enumerate(calls):
        scan.take(order, call)
        if order in needless:
            scan.waste[order] = Waste(call.step, "needless", 1.0)
    waste = scan.waste
    if len(scan.seen) < len(calls):
        _cycles(calls, waste)
    _mended(calls, waste)
    return [waste[order] for order in sorted(waste)]


def _cycles(calls: Sequence[Call], waste: dict[int, Waste]) -> None:
    """A-B-A-B where each call gives what it gave before: doing and undoing, told by no repeat."""
    runs = [0] * (PERIOD + 1)
    for order, call in enumerate(calls):
        for period in range(2, PERIOD + 1):
            before = calls[order - period] if order >= period else None
            if before is None or before.key != call.key or before.result != call.result:
                runs[period] = 0
                continue
            runs[period] = 0 if call.nature.moves else runs[period] + 1
            turn = calls[order - period + 1 : order + 1] if runs[period] >= period else ()
            if not any(each.nature.writes for each in turn):
                continue  # of calls that only look, the repeats have been counted
            for place in range(order - period + 1, order + 1):
                again = Waste(calls[place].step, "loop", 1.0, calls[place - period].step)
                if place not in waste or waste[place].cost < 1:
                    waste[place] = again


def _mended(calls: Sequence[Call], waste: dict[int, Waste]) -> None:
    """The first mistake that was put right costs half: it is an error with a sensible retry."""
    mistakes = [order for order in sorted(waste) if waste[order].kind == "mistake"]
    if not mistakes:
        return
    right = {call.name: order for order, call in enumerate(calls) if not call.failure}
    for order in mistakes:
        if right.get(calls[order].name, -1) > order:
            waste[order] = waste[order]._replace(cost=0.5)
            return
