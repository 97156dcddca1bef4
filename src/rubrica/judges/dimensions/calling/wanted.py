"""The tools that a case expects: which were used, which were not, which were not asked for."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from rubrica.core import Case, CaseError
from rubrica.judges.dimensions.calling.calls import Call
from rubrica.judges.dimensions.calling.plain import encode, even

#: The best value where an expected tool brought nothing: none of them did, all but none did.
MISSING = (0.25, 0.49)
#: Tools that a reason names.
NAMED = 4


class Wanted(msgspec.Struct, frozen=True):
    """A tool that a good run calls, with the arguments that matter, if any do."""

    name: str
    arguments: tuple[tuple[str, bytes], ...] = ()

    def met_by(self, call: Call) -> bool:
        """Whether this call of the tool does what is wanted."""
        if call.failure or not self.arguments:
            return not call.failure
        plain = call.plain if isinstance(call.plain, Mapping) else {}
        return all(k in plain and encode(plain[k]) == v for k, v in self.arguments)


#: The last list that was read: several attempts at one case are judged one after another.
_last: list[tuple[Sequence[Any], tuple[Wanted, ...]]] = []


def wanted_of(case: Case, expected: Sequence[Any]) -> tuple[Wanted, ...]:
    known = _last[0] if _last else None
    if known is None or known[0] is not expected:
        known = (expected, _read(case, expected))
        _last[:] = [known]
    return known[1]


def _read(case: Case, expected: Sequence[Any]) -> tuple[Wanted, ...]:
    wanted = []
    for place, tool in enumerate(expected):
        field = f"expected.tools.expected[{place}]"
        name = tool if isinstance(tool, str) else tool.get("name")
        if not isinstance(name, str) or not name.strip():
            raise CaseError(case.id, field, "expected the name of a tool, or an object with one")
        arguments = None if isinstance(tool, str) else tool.get("arguments")
        if not (arguments is None or isinstance(arguments, dict)):
            raise CaseError(case.id, f"{field}.arguments", "expected an object")
        plain = even(arguments) if arguments else {}
        wanted.append(Wanted(name.strip(), tuple([(k, encode(v)) for k, v in plain.items()])))
    return tuple(wanted)


@lru_cache(maxsize=4096)
def same_tool(called: str, name: str) -> bool:
    """Spelling aside, and the server that a tool belongs to: `mcp__shop__getPrice`, `get_price`."""
    if called == name:
        return True
    one, other = _spelt(called), _spelt(name)
    return one[-1] == other[-1] and (len(one) == 1 or len(other) == 1 or one == other)


@lru_cache(maxsize=4096)
def _spelt(name: str) -> list[str]:
    name = name[:200].replace("::", ".").replace("/", ".").replace("__", ".").casefold()
    return [part.replace("_", "").replace("-", "").replace(" ", "") for part in name.split(".")]


def unasked(calls: Sequence[Call], wanted: Sequence[Wanted]) -> set[int]:
    """Places of the calls to tools that are not expected; none where nothing is."""
    if not wanted:
        return set()
    asked = {each.name for each in wanted}
    strange = {
        name
        for name in {call.name for call in calls} - asked
        if not any(same_tool(name, each) for each in asked)
    }
    return {order for order, call in enumerate(calls) if call.name in strange} if strange else set()


def selection_of(calls: Sequence[Call], wanted: Sequence[Wanted]) -> tuple[float, str]:
    """The best that the choice of tools allows, and what is wrong with it."""
    unused, failed, done = [], [], 0
    by_name: dict[str, list[Call]] = {}
    for call in calls:
        by_name.setdefault(call.name, []).append(call)
    for each in wanted:
        if any(map(each.met_by, by_name.get(each.name, ()))):
            done += 1
            continue
        called = [call for name in by_name if same_tool(name, each.name) for call in by_name[name]]
        if not called:
            unused.append(each)
        elif any(map(each.met_by, called)):
            done += 1
        else:  # it failed every time, or was never given the arguments that matter
            failed.append(each)
    if not unused and not failed:
        return 1.0, ""
    parts = [f"expected and not used: {named(unused)}"] if unused else []
    parts += [f"called without success: {named(failed)}"] if failed else []
    none = len(unused) == len(wanted)
    best = 0.0 if none else MISSING[0] + (MISSING[1] - MISSING[0]) * done / len(wanted)
    return best, "; ".join(parts)


def named(wanted: Sequence[Wanted]) -> str:
    return ", ".join(dict.fromkeys(short(each.name, 40) for each in wanted[:NAMED])) + (
        f" and {len(wanted) - NAMED} more" if len(wanted) > NAMED else ""
    )


def short(text: str, most: int) -> str:
    cut = text if len(text) <= most else f"{text[: most - 1]}…"
    return cut if cut.isprintable() else repr(cut)[1:-1]
