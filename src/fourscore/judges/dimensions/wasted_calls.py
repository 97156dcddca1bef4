"""Compare the tool calls of a trace with one another, and find those that were wasted.

One pass over the calls. A call is remembered by the digest of its name and arguments, so time and
memory are linear in the number of calls, whatever the size of arguments and results.
"""

import re
from collections.abc import Container, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

import msgspec

from fourscore.core import ToolCall, Trace
from fourscore.judges.failures import Failure, find_call_failure
from fourscore.judges.reader.text import MAX_READ

Kind = Literal["unexpected", "repeat", "retry", "mistake"]
#: Allowed attempts at a call that keeps failing (the call and one retry), and the depth to which
#: arguments are compared.
MAX_ATTEMPTS, MAX_DEPTH = 2, 100

#: Verbs in a tool's name. A tool whose name begins with the first kind only reads; one with a verb
#: of the second changes something; one of the third runs its arguments, which may change anything.
_READS = {"get", "list", "read", "find", "search", "fetch", "show", "view", "query", "check"}
_WRITES = set(
    """create update delete remove send book cancel write post put set add insert edit modify move
    rename save upload submit pay transfer reserve assign install commit push deploy""".split()
)
_RUNS = {"bash", "shell", "run", "exec", "execute", "terminal", "python", "sql", "http", "editor"}
_READS_ZH = re.compile("查|读|获取|搜索|列")
_WRITES_ZH = re.compile("创建|更新|删除|发送|预订|取消|修改|添加|保存|提交|支付|写")
_VERBS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: Errors that may pass by themselves: the call itself was not wrong.
_TRANSIENT = re.compile(
    r"time[d-]? ?-?out|rate.?limit|too many requests|unavailable|overloaded|try again|temporar"
    r"|connection|network|\b(?:408|429|50[0-4])\b|超时|限流|繁忙|稍后|网络",
    re.IGNORECASE,
)

#: One encoder for all calls: making one takes longer than using it.
_encode = msgspec.json.Encoder(order="sorted").encode


class Call(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A tool call. `step` is its index in `trace.steps`, `key` and `result` are digests."""

    step: int
    name: str
    arguments: object
    key: bytes
    result: bytes
    failure: Failure | None
    #: Whether its name says that it changes state, or that it runs something that may.
    writes: bool
    runs: bool

    @property
    def is_mistake(self) -> bool:
        """Whether it failed because of its own arguments, as far as the error shows.

        The error must be at the start of the result: further down it belongs to a page or log that
        the tool read. A script or test that fails was worth running, a missing command was not.
        """
        failure = self.failure
        if failure is None or failure.start > 0 or failure.kind in ("checks", "exit", "sentence"):
            return False
        return not _TRANSIENT.search(failure.text) and (failure.kind == "shell" or not self.runs)


class WastedCall(NamedTuple):
    """A wasted call, why it was wasted, and the step that it repeats."""

    call: Call
    kind: Kind
    of: int | None = None


def read_calls(trace: Trace, free: Sequence[str], writes: Sequence[str]) -> list[Call]:
    """Return the calls of a trace without those of `free` tools; those in `writes` change state."""
    return [
        _read_call(step, call, call.name in writes)
        for step, call in enumerate(trace.steps)
        if isinstance(call, ToolCall) and call.name not in free
    ]


def _read_call(step: int, call: ToolCall, writes: bool) -> Call:
    name = call.name.strip()
    arguments = canonical(call.arguments)
    failure = find_call_failure(call)
    key = blake2b(name.encode() + b"\0" + _encode(arguments)).digest()
    result = blake2b(failure.text.encode() if failure else _encode(call.result)).digest()
    changes, runs = _read_verbs(name[:200])
    return Call(
        step=step,
        name=name,
        arguments=arguments,
        key=key,
        result=result,
        failure=failure,
        writes=writes or changes,
        runs=runs,
    )


def canonical(value: object, depth: int = 0) -> Any:
    """Return arguments without differences that mean nothing: white space, nulls, 1.0 for 1."""
    if isinstance(value, str):
        return " ".join(value.split()) if len(value) <= MAX_READ else value
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if isinstance(value, dict) and depth < MAX_DEPTH:
        items = ((k.strip(), v) for k, v in value.items() if v is not None)
        return {k: canonical(v, depth + 1) for k, v in items}
    if isinstance(value, list) and depth < MAX_DEPTH:
        return [canonical(item, depth + 1) for item in value]
    return value


@lru_cache(maxsize=4096)
def _read_verbs(name: str) -> tuple[bool, bool]:
    """Return whether a tool of this name changes something, and whether it runs something."""
    verbs = [verb.lower() for verb in _VERBS.findall(name.rpartition("__")[2])]
    if (verbs and verbs[0] in _READS) or _READS_ZH.match(name):
        return False, False
    writes = not _WRITES.isdisjoint(verbs) or _WRITES_ZH.search(name) is not None
    return writes, not _RUNS.isdisjoint(verbs)


class _Seen(msgspec.Struct, kw_only=True):
    """One tool with one set of arguments, as it was called so far.

    `call` and `order` are the last call and its place, `first` the step that gave the current
    result, `attempts` how often it failed alike, `repeats` the places of needless calls.
    """

    call: Call
    order: int
    first: int
    attempts: int = 1
    repeats: list[int] = []


def find_wasted(calls: Sequence[Call], unexpected: Container[int] = ()) -> list[WastedCall]:
    """Return the wasted calls in order; `unexpected` are indices of calls to unexpected tools."""
    wasted: dict[int, WastedCall] = {}
    seen: dict[bytes, _Seen] = {}
    # The place of the last call that changed state. A call with the same outcome as before changes
    # nothing: otherwise create, delete, create, delete would justify one another.
    changed = -1
    changes: set[tuple[bytes, bytes]] = set()
    for order, call in enumerate(calls):
        before = seen.get(call.key)
        if before is None or changed > before.order:
            seen[call.key] = _Seen(call=call, order=order, first=call.step)
            kind: Kind | None = "mistake" if call.is_mistake else None
        else:
            kind = _judge_repeated(before, call, order, wasted)
        if order in unexpected:
            kind = "unexpected"
        if kind is not None:
            of = before.first if before and kind in ("repeat", "retry") else None
            wasted[order] = WastedCall(call, kind, of)
        elif (call.writes or call.runs) and call.failure is None:
            if (call.key, call.result) not in changes:
                changed = order
            changes.add((call.key, call.result))
    return [wasted[order] for order in sorted(wasted)]


def _judge_repeated(
    before: _Seen, call: Call, order: int, wasted: dict[int, WastedCall]
) -> Kind | None:
    """Return why a repeated call is wasted; nothing has changed since the call before it."""
    last, is_same = before.call, call.result == before.call.result
    before.call, before.order = call, order
    if call.failure is not None:
        before.attempts = before.attempts + 1 if last.failure is not None and is_same else 1
        if before.attempts > MAX_ATTEMPTS:
            return "retry"
        return "mistake" if call.is_mistake else None
    if last.failure is None and (is_same or call.writes):
        before.repeats.append(order)  # a second booking is wrong even if its number is new
        return "repeat"
    if last.failure is None:
        for place in before.repeats:  # the agent was polling for this new result
            wasted.pop(place, None)
        before.repeats.clear()
    before.first = call.step
    return None
