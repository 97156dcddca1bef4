"""How much a text says beyond the question, the names of the aspects, grammar and praise."""

from functools import cached_property, lru_cache

from rubrica.judges.dimensions.coverage.spoken import Spoken, pairs_of

#: New pairs of characters after which nobody counts any further.
_ENOUGH = 40


class Novelty:
    """How much is new beside the terms of a question and the words for its aspects."""

    def __init__(self, asked: frozenset[str], own: frozenset[str]) -> None:
        self._known = asked | own
        self._parts = asked, own

    @cached_property
    def _pairs(self) -> frozenset[str]:
        asked, own = self._parts
        return pairs_of(asked) | _kept(own)

    def of(self, said: Spoken) -> float:
        """New words, two Chinese characters being one."""
        count = float(len(said.new - self._known))
        pairs = said.new_pairs
        if not pairs:
            return count
        known = self._pairs
        if known.isdisjoint(pairs) and known.isdisjoint(pairs.values()):  # as in most sentences
            return count + min(len(pairs), _ENOUGH) / 2
        fresh = [1 for pair, before in pairs.items() if pair not in known and before not in known]
        return count + min(len(fresh), _ENOUGH) / 2


@lru_cache(maxsize=512)
def _kept(own: frozenset[str]) -> frozenset[str]:
    return pairs_of(own)
