"""How much a text says beyond the question, the names of the aspects, grammar and praise."""

from collections.abc import Sequence
from functools import cache, cached_property

from rubrica.judges.dimensions.coverage.aspects import Aspect, concepts_of, terms_of
from rubrica.judges.dimensions.coverage.concepts import concepts
from rubrica.judges.dimensions.coverage.spoken import Spoken, pairs_of

#: New pairs of characters after which nobody counts any further.
_ENOUGH = 40
_NO_WORDS = frozenset[str]()


class Novelty:
    """How much is new beside the terms of a question and the words for its aspects."""

    def __init__(self, question: str, aspects: Sequence[Aspect]) -> None:
        self._terms = [terms_of(question), *[terms_of(aspect.text) for aspect in aspects]]
        self._concepts = concepts_of(aspects)
        #: Repeating the names of the aspects is saying nothing, also by other words for them.
        names = [concept.names for concept in self._concepts]
        self._known = _NO_WORDS.union(*self._terms, *names)

    @cached_property
    def _pairs(self) -> frozenset[str]:
        """Known pairs of characters, besides some words."""
        several = [_pairs(concept.name) for concept in self._concepts]
        return _NO_WORDS.union(*self._terms, *several)

    def of(self, said: Spoken) -> float:
        """New words, two Chinese characters being one."""
        count = float(len(said.new - self._known)) if said.new else 0.0
        pairs = said.new_pairs
        if not pairs:
            return count
        known = self._pairs
        if known.isdisjoint(pairs) and known.isdisjoint(pairs.values()):  # as in most sentences
            return count + min(len(pairs), _ENOUGH) / 2
        fresh = [1 for pair, before in pairs.items() if pair not in known and before not in known]
        return count + min(len(fresh), _ENOUGH) / 2


@cache
def _pairs(concept: str) -> frozenset[str]:
    """The pairs of characters of the Chinese words for a concept."""
    return pairs_of(concepts()[concept].names)
