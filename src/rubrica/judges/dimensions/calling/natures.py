"""What kind of tool a name stands for: does it change something, look for something, ask again?

Nobody tells the judge, so the verbs in the name decide, English and Chinese; where the arguments
name the action (`command: view`, `method: POST`, a shell command, SQL), they decide first.
"""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

#: `get_user-info`, `getUserInfo`, `orders.delete`, `搜索v2`.
_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[\u3400-\u9fff]+")
#: `cd somewhere &&` says nothing.
_ENTERED = re.compile(r"\s*cd [^&;\n]{1,150}(?:&&|;)\s*")
#: A tool's own name stands after those of its server and its group.
_TAIL = re.compile(r"__|[./:]")
#: Characters of a name or an argument that are looked at for a verb.
LOOKED_AT = 200
_SQL = re.compile(
    r"\s*(?:(select|with|explain|show)|insert|update|delete|create|alter|drop|merge|replace)\s",
    re.IGNORECASE,
)
_SENDING = frozenset({"post", "put", "patch", "delete"})


class Nature(NamedTuple):
    """What a call does to the world."""

    writes: bool = False
    #: A thing that is done again when it is asked again: a second message, a second booking.
    once: bool = False
    #: Its result rests on everything else: tests, builds, health checks.
    checks: bool = False
    #: The same words take a new step each time: scroll, next, receive.
    moves: bool = False
    searches: bool = False
    polls: bool = False
    #: It takes back what another call did, often under a number that only the result told.
    undoes: bool = False


@cache
def words(key: str) -> frozenset[str]:
    return frozenset(listed(key))


@cache
def listed(key: str) -> tuple[str, ...]:
    return tuple(_file()[key])


@cache
def _file() -> dict[str, list[str]]:
    text = Path(__file__).with_name("words.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, list[str]])


def nature_of(name: str, arguments: Any, writes: frozenset[str] = frozenset()) -> Nature:
    """`writes` are names that the user says change state."""
    named = _named(name[:LOOKED_AT])
    if name in writes:
        return named._replace(writes=True, checks=False)
    if not isinstance(arguments, dict) or _telling().isdisjoint(arguments):
        return named
    for key in () if words("actions").isdisjoint(arguments) else listed("actions"):
        action = arguments.get(key)
        if isinstance(action, str):
            return _acting(named, name[:LOOKED_AT], key, action[:LOOKED_AT])
    return _asking(named, arguments)


@cache
def _telling() -> frozenset[str]:
    """The arguments that tell what a call does."""
    return words("actions") | words("asking") | {"sql", "query", "statement"}


def _asking(named: Nature, arguments: dict[str, Any]) -> Nature:
    """A search by its arguments, whatever the tool is called; but SQL is no search."""
    query = arguments.get("sql") or arguments.get("query") or arguments.get("statement")
    if isinstance(query, str):
        sql = _SQL.match(query[:LOOKED_AT])
        if sql:
            return named._replace(writes=sql[1] is None, searches=False)
    if not (named.writes or named.searches or words("asking").isdisjoint(arguments)):
        return named._replace(searches=True)
    return named


def _acting(named: Nature, name: str, key: str, action: str) -> Nature:
    """The action of one tool for many: an editor, a request, a shell."""
    if key == "method" and action.lower() in _SENDING:
        return named._replace(writes=True, once=action.lower() == "post", searches=False)
    if words("shells") & set(_pieces(name)) or (key == "command" and " " in action.strip()):
        return _shell(action)
    done = _named(action)
    return done if any(done) or _reads(action) else named


def _shell(command: str) -> Nature:
    command = _ENTERED.sub("", command)
    parts = command.lower().split(maxsplit=2)
    first, second = (*parts, "", "")[:2]
    if first == "git":
        return Nature(writes=second not in words("git_looks"))
    if first in words("writes") or ">" in command:
        return Nature(writes=True)
    if first in words("looking"):
        return Nature()
    if set(_pieces(command)) & (words("checks") | words("findings")):
        return Nature(checks=True)
    return Nature(writes=True)


@lru_cache(maxsize=4096)
def _named(name: str) -> Nature:
    name = _TAIL.split(name)[-1] or name
    pieces = _pieces(name)
    held, first = set(pieces), pieces[0] if pieces else ""
    moves = bool(held & words("motions")) or first in words("paces") or _holds(name, "zh_motions")
    searches = bool(held & words("searches")) or _holds(name, "zh_searches")
    polls = bool(held & words("polls")) or _holds(name, "zh_polls")
    if _reads(name):
        return Nature(moves=moves, searches=searches, polls=polls)
    verbs = {piece for piece in held if piece == first or piece not in words("nouns")}
    once = bool(verbs & words("once")) or _holds(name, "zh_once")
    writes = once or bool(verbs & words("writes")) or _holds(name, "zh_writes")
    writes = writes or name.startswith(listed("zh_starts"))
    checks = not once and (bool(held & words("checks")) or _holds(name, "zh_checks"))
    writes, searches = writes and not checks, searches and not writes
    undoes = writes and (bool(verbs & words("undoing")) or _holds(name, "zh_undoing"))
    return Nature(writes, once, checks, moves, searches, polls, undoes)


@lru_cache(maxsize=4096)
def _reads(name: str) -> bool:
    """Whether it looks and does not touch: by its first verb, else by what it ends in."""
    pieces = _pieces(name)
    for piece in pieces:
        if piece in words("reads") or piece.startswith(listed("zh_reads")):
            return True
        if piece in words("always") or piece.startswith(listed("zh_always")):
            return False
        if piece in words("writes") and piece not in words("nouns"):
            break
    return bool(pieces) and (pieces[-1] in words("endings") or name.endswith(listed("zh_endings")))


def finds(name: str, arguments: Any) -> bool:
    """Whether an exit code other than 0 is what the tool has to say: tests that fail, no match."""
    text = name[:LOOKED_AT]
    if isinstance(arguments, dict):
        for key in listed("actions"):
            if isinstance(arguments.get(key), str):
                text += f" {arguments[key][:LOOKED_AT]}"
    return bool(set(_pieces(text)) & (words("checks") | words("findings"))) or _holds(
        text, "zh_checks"
    )


def _pieces(name: str) -> tuple[str, ...]:
    return tuple(piece.lower() for piece in _PIECES.findall(name))


def _holds(name: str, key: str) -> bool:
    return any(word in name for word in listed(key))
