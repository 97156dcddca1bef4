"""Whether a source says what it is cited for.

A paraphrase shares few words with its source, so few common words alone refute nothing. What
refutes is a number the source has otherwise or not at all, a denial of what it says, what another
source says much more plainly, or nothing in common. What is in part there is supported in part.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec.structs import replace

from rubrica.judges.citing.denial import denied
from rubrica.judges.citing.library import Agreement, Library
from rubrica.judges.citing.names import strangers
from rubrica.judges.citing.numbers import Numbers, compare, turned
from rubrica.judges.citing.passages import (
    Passage,
    clauses_of,
    passage,
    share,
    source_passage,
    weighed,
    weight,
)
from rubrica.judges.citing.sources import Source
from rubrica.judges.text.claimed import units
from rubrica.judges.text.gist import gist
from rubrica.judges.text.quantities import amounts
from rubrica.judges.text.sentences import sentences
from rubrica.judges.text.support import verdict
from rubrica.judges.text.words import terms

#: Shares of the words of a statement that its source has: enough to carry it, and too few.
ENOUGH, TOO_FEW = 0.3, 0.1
#: Terms of a statement that is about one thing, and sentences searched for other words for it.
SHORT, MOST_SENTENCES = 6, 60
#: A clause that is supported by itself, and the weight of a word that says nothing.
HELD, WEAK = 0.15, 400
#: A clause that holds beside one with a wrong number: with a number of its own, and without.
HALF_HELD, WELL_HELD = 0.25, 0.5
#: How much more of it another source must have to be the one that was meant.
BETTER = 0.3
#: A statement is plainly taken from a source with this share of its words; less with a number.
TAKEN, TAKEN_WITH_NUMBER = 0.38, 0.15
#: Words of a clause that are enough to miss it in the source: of one that adds something, and else.
_ADDED, _NEW = 3, 4
_ADDS = re.compile(
    r"\A(?:and|as well as|but also|plus|along with|in addition|while|whereas)\b"
    r"|\A(?:而且|并且|以及|同时|还|且|并|也)",
    re.IGNORECASE,
)


def agree(claim: str, source: Source, known: Library, context: Sequence[str] = ()) -> Agreement:
    """Whether this source supports the claim; the others tell whether another one was meant.

    `context` is what was asked and said before: names from there need not be in the source.
    """
    found = known.agreed.get((claim, source))
    if found is None:
        found = known.agreed[claim, source] = _agreed(claim, source, known)
    if found.unnamed != "supported" and (unknown := strangers(claim, source, context)):
        why = f"the source does not name '{unknown[0]}'"
        return Agreement(found.unnamed, why, False, found.about)
    return found


def _agreed(claim: str, source: Source, known: Library) -> Agreement:
    """The same, whatever the names in it."""
    mine, theirs = passage(claim), source_passage(source)
    numbers = compare(mine, theirs)
    both = mine.terms & theirs.terms
    shared = weighed(both) / mine.weight if both else 0.0
    about = both
    if numbers.found:
        about = both.union([f"{one.value:g}{one.unit}" for one in numbers.found])
    if mine.terms and mine.language != theirs.language:
        return replace(_foreign(mine, theirs, numbers), about=about)
    if both and (denial := denied(mine, source.text)):
        short = denial.sentence if len(denial.sentence) <= 80 else f"{denial.sentence[:77]}..."
        return Agreement("unsupported", f"the source says otherwise: '{short}'", False, about)
    found = _by_numbers(claim, theirs, numbers, shared) or _by_words(
        claim, theirs, numbers, both, shared
    )
    kind, why, weak = found.kind, found.why, found.weak
    if kind == "unsupported":
        if weak and _stated(claim, source):
            return Agreement("supported", "", True, about)
        return Agreement(kind, why, weak, about)
    if better := _better(mine, shared, numbers, source, known):
        return Agreement("unsupported", f"that is in source {better}", False, about)
    if kind == "partial":
        return Agreement(kind, why, weak, about)
    # A name that the source does not have is all of a short statement, part of a longer one.
    whole = not numbers.found and len(mine.terms) <= SHORT
    return Agreement(kind, why, weak, about, "unsupported" if whole else "partial")


def _stated(claim: str, source: Source) -> bool:
    """Whether it is there in other words, by the list of words for the same idea."""
    if not (amounts(claim) or _most_of(claim, _spoken_of(source.text))):
        return False
    found = verdict(claim, sentences(source.text)[:MOST_SENTENCES])
    return found.kind == "supported" and found.sure != "low"


def _most_of(claim: str, spoken_of: frozenset[str]) -> bool:
    """Whether half of its words have any of these: with less no text is taken to state it."""
    found = [(unit.weight, unit.meaning) for unit in units(claim)]
    met = [
        weight
        for weight, meaning in found
        if meaning.told or not meaning.terms.isdisjoint(spoken_of)
    ]
    return 2 * sum(met) >= sum([weight for weight, _ in found])


@lru_cache(maxsize=16)
def _spoken_of(text: str) -> frozenset[str]:
    """What the sentences speak of, at a glance, which is far less work than to read them."""
    found = sentences(text)[:MOST_SENTENCES]
    return gist(text[: found[-1].end]) if found else frozenset()


def _by_numbers(claim: str, theirs: Passage, numbers: Numbers, shared: float) -> Agreement | None:
    """What the numbers decide; None where they decide nothing."""
    wrong = numbers.other + numbers.lacking
    if not wrong:
        return None
    written = claim[wrong[0].start : wrong[0].end].strip()
    why = f"the source does not have '{written}'"
    if turned(wrong[0], theirs):
        why = f"the source has '{written}' as a bound on the other side"
    if _other_clauses_hold(claim, theirs):
        return Agreement("partial", why)
    if not numbers.other and numbers.found and shared >= ENOUGH:
        return Agreement("partial", why)
    return Agreement("unsupported", why)


def _other_clauses_hold(claim: str, theirs: Passage) -> bool:
    """Whether some clause without a wrong number is well supported by itself."""
    clauses = clauses_of(claim)
    if len(clauses) < 2:
        return False
    for clause in clauses:
        piece = passage(clause)
        if len(piece.terms) < 2 or (shared := share(piece, theirs)) < HALF_HELD:
            continue
        numbers = compare(piece, theirs)
        if not (numbers.other or numbers.lacking) and (numbers.found or shared >= WELL_HELD):
            return True
    return False


def _by_words(
    claim: str, theirs: Passage, numbers: Numbers, both: frozenset[str], shared: float
) -> Agreement:
    """What the words decide, where no number is wrong."""
    # Words that any text may have, such as `year` and `people`, are nothing in common.
    telling = numbers.found or (shared >= TOO_FEW and any(weight(term) > WEAK for term in both))
    if not telling:
        return Agreement("unsupported", "the source has next to nothing of it", True)
    if extra := _extra(claim, theirs, both):
        return Agreement("partial", f"the source has nothing of '{extra}'", True)
    return Agreement("supported", weak=shared < ENOUGH)


def _extra(claim: str, theirs: Passage, both: frozenset[str]) -> str:
    """A clause after a supported one that adds something of which the source has nothing."""
    # It lacks three words at least, as none weighs much more than another; those of a Chinese
    # clause need not be words of the whole.
    if claim.isascii() and len(passage(claim).terms) - len(both) < _ADDED:
        return ""
    held = False
    for clause in clauses_of(claim):
        piece = passage(clause)
        if not held:
            held = share(piece, theirs) >= HELD
        elif _is_new(clause, piece, theirs):
            return clause[:60]
    return ""


def _is_new(clause: str, piece: Passage, theirs: Passage) -> bool:
    least = _ADDED if _ADDS.match(clause) else _NEW
    few = len(piece.terms) >= least and share(piece, theirs) < TOO_FEW
    return few and not compare(piece, theirs).found


def _better(mine: Passage, shared: float, numbers: Numbers, source: Source, known: Library) -> str:
    """The name of another source that has it much more plainly."""
    if shared + BETTER > 1:
        return ""
    for place, more in known.shelf.shares(mine, shared + BETTER):
        other, theirs = known.shelved[place], known.shelf.passages[place]
        if other.text == source.text or theirs.language != mine.language:
            continue
        found = compare(mine, theirs)
        if found.other or len(found.found) < len(numbers.found):
            continue
        plainly = more >= 2 * shared and shared < 0.4
        if plainly or len(found.found) > len(numbers.found):
            return other.id or other.url or str(known.sources.index(other) + 1)
    return ""


def _foreign(mine: Passage, theirs: Passage, numbers: Numbers) -> Agreement:
    """A source in another language: only numbers and names can be compared."""
    if numbers.other:
        return Agreement("unsupported", "the source has another number", True)
    if numbers.found or mine.latin & theirs.latin:
        return Agreement("supported", weak=True)
    return Agreement("unsupported", "nothing in common with a source in another language", True)


def common(statement: str, source: Source) -> bool:
    """Whether they share anything: most pairs do not, and are told apart quickly."""
    mine, theirs = passage(statement), source_passage(source)
    return not mine.terms.isdisjoint(theirs.terms) or mine.language != theirs.language


def taken_from(statement: str, known: Library) -> Source | None:
    """The source that the statement is plainly taken from."""
    words = terms(statement)
    if len(words) < 2 or words.isdisjoint(known.shelf.terms):
        return None
    mine = passage(statement)
    for place, shared in known.shelf.shares(mine, TAKEN_WITH_NUMBER):
        # Its numbers are read only where its words are there.
        if not mine.quantities:
            plainly = shared >= TAKEN and len(words) > 2
        else:
            numbers = compare(mine, known.shelf.passages[place])
            wrong = numbers.other or numbers.lacking
            plainly = not wrong and (shared >= TAKEN or bool(numbers.found))
        if plainly:
            return known.shelved[place]
    return None
