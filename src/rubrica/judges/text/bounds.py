"""Bounds: at least, under, no later than, 以上."""

import re

_ABOVE = (
    "over", "above", "more than", "greater than", "higher than", "larger than", "bigger than",
    "longer than", "older than", "at least", "exceed", "exceeds", "exceeding", "minimum of",
    "minimum", ">", ">=", "≥",
)  # fmt: skip
_BELOW = (
    "under", "below", "less than", "fewer than", "lower than", "smaller than", "shorter than",
    "younger than", "at most", "up to", "maximum of", "maximum", "within", "<", "<=", "≤",
)  # fmt: skip
_BOUNDS = dict.fromkeys(_ABOVE, 1) | dict.fromkeys(_BELOW, -1)
#: The same of a day or an hour: `over 2019` is none.
_TIMED = {"after": 1, "since": 1, "from": 1, "later than": 1}
_TIMED |= {"before": -1, "until": -1, "till": -1, "up to": -1, "earlier than": -1}
_BEHIND = {
    f"{link} {word}": side
    for words, side in (
        ("more over above older higher up", 1),
        ("less fewer under below lower", -1),
    )
    for word in words.split()
    for link in ("or", "and")
} | {"or younger": -1, "at least": 1, "at most": -1}
#: What they begin with, and the last words of those before a figure.
_LINKS = ("or", "and", "at")
_ENDS = frozenset(key.split()[-1] for key in (*_BOUNDS, *_TIMED))
_HAN_BEFORE = re.compile(
    r"(不[得可要能应会宜]?|未|没有?|勿|别)?"
    r"(?:(超过|高于|大于|多于|至少|起码|满|逾)|(低于|小于|少于|至多|最多|不到|不足))[了有约]?[ ]?\Z"
)
#: The last characters of these, one of which is the last but two or nearer.
_HAN_ENDS = frozenset("过于少码满逾多到足")
_HAN_BEHIND = re.compile(r"[及或]?以(?:(上)|[下内])")
_HAN_TIMED = re.compile(r"[之以]?(?:([后起])|前(?!后))(?![天日年])")
#: Denials right before a bound, which turn it; and others, which may or may not.
_DENIALS = frozenset(("no", "not", "never", "cannot", "don't", "doesn't", "can't", "mustn't"))
_NOT = re.compile(
    r"\b(?:not?|never|nor|none|nobody|nothing|neither|without|avoid|cannot|hardly|rarely|seldom"
    r"|barely|unless|except|excluding)\b|n't\b"
    r"|[不没无未勿禁非]|避免|除|(?<![特级类性区个识分差])别(?![的人处墅])"
)
_CLAUSE = re.compile(r"[,;:.!?，；：！？](?!\d)")
#: Words and characters without one of which there is no bound.
WORDS = frozenset(word for key in (*_BOUNDS, *_TIMED, *_BEHIND) for word in key.split()) - {
    "of", "at", "to", "or", "and", "than",
}  # fmt: skip
HAN = frozenset("超高大多少码满逾低小到足上下内前后起≥≤")


def bound(before: str, behind: str, timed: bool) -> int:
    """1 for the least, -1 for the most, with the denial beside it; 0 where there is no bound."""
    near = before.rstrip(" $€£¥*_(")
    if near[near.rfind(" ") + 1 :] in _ENDS:
        side, near = _told_before(near.split(" "), _TIMED if timed else _BOUNDS)
        if side:
            return side * _denial(near, behind)
    if not timed and behind.lstrip().startswith(_LINKS):
        side = _BEHIND.get(" ".join(behind.split(None, 2)[:2]).rstrip(".,;:)"), 0)
        if side:
            return side * _denial(near, behind)
    return 0 if before.isascii() and behind.isascii() else _han_bound(before, behind, timed)


def _told_before(words: list[str], known: dict[str, int]) -> tuple[int, str]:
    """The bound that the last words tell, turned by a denial, and what stands before that."""
    side, size = known.get(words[-1], 0), 1
    if not side:
        side, size = known.get(" ".join(words[-2:]), 0), 2
    if side and not _DENIALS.isdisjoint(words[-size - 1 : -size]):
        side, words = -side, words[: -size - 1]
    return side, " ".join(words)


def _han_bound(before: str, behind: str, timed: bool) -> int:
    found = (_HAN_TIMED if timed else _HAN_BEHIND).match(behind)
    if found is not None:
        side = 1 if found[1] else -1
    else:
        if timed or _HAN_ENDS.isdisjoint(before[-3:]):
            return 0
        found = _HAN_BEFORE.search(before)
        if found is None:
            return 0
        side = (1 if found[2] else -1) * (-1 if found[1] else 1)
        before = before[: found.start()]
    return side * _denial(before, behind)


def _denial(before: str, behind: str) -> int:
    """2 where a denial stands before it in the clause, 3 where one stands behind, else 1."""
    if _NOT.search(_CLAUSE.split(before)[-1]):
        return 2
    return 3 if _NOT.search(_CLAUSE.split(behind, maxsplit=1)[0]) else 1
