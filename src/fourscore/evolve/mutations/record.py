"""How the strategies have fared, and which texts were tried: what a proposer remembers.

It is a value that a history can keep, or build again from its log. A try that was refused counts as
a try.
"""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

import msgspec


class Tally(msgspec.Struct, frozen=True, omit_defaults=True):
    """`refused` are those of the tried that never ran."""

    tried: int = 0
    accepted: int = 0
    refused: int = 0


class Try(NamedTuple):
    """One of them; `digest` is empty where there was no text."""

    strategy: str
    digest: str = ""
    accepted: bool = False
    refused: bool = False


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """`tallies` by strategy, `digests` of every text that was tried."""

    tallies: dict[str, Tally] = msgspec.field(default_factory=dict)
    digests: frozenset[str] = frozenset()

    @classmethod
    def of_tries(cls, tries: Iterable["Try"]) -> "Record":
        """The record of many, such as a log has them."""
        tallies: dict[str, Tally] = {}
        digests: set[str] = set()
        for one in tries:
            old = tallies.get(one.strategy, Tally())
            tallies[one.strategy] = Tally(
                old.tried + 1, old.accepted + one.accepted, old.refused + one.refused
            )
            digests.add(one.digest)
        return cls(tallies, frozenset(digests - {""}))

    def of(self, strategy: str) -> Tally:
        return self.tallies.get(strategy, Tally())

    def knows(self, text: str) -> bool:
        """By the digest of the text as it is, too, which a log of versions has."""
        return text_digest(text) in self.digests or _digest(text) in self.digests

    def after(
        self, strategy: str, digest: str, *, accepted: bool = False, refused: bool = False
    ) -> "Record":
        """The record with one more try."""
        old = self.of(strategy)
        new = Tally(old.tried + 1, old.accepted + accepted, old.refused + refused)
        known = self.digests | {digest} if digest else self.digests
        return Record({**self.tallies, strategy: new}, known)


def text_digest(text: str) -> str:
    """A prompt's identity: blanks at the ends of lines, and of the text, change nothing."""
    lines = "\n".join(line.rstrip() for line in text.strip().split("\n"))
    return _digest(lines)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
