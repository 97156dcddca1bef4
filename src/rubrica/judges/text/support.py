"""Does a text state a claim, deny it, or say nothing of it?

Every sentence that shares something with the claim is held against it: how much of what the
question does not already say does it have, do its quantities agree, does it name the same names,
and does it affirm what the claim affirms. Figures that agree are evidence enough in an answer;
words are compared by stems, the ideas of `lexicon/concepts.txt` and `lexicon/related.txt`.
There is no model: a paraphrase without anything in common is seen by its place at best.
"""

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from operator import attrgetter
from typing import Literal

import msgspec

from rubrica.judges.text.claimed import units
from rubrica.judges.text.conflicts import denied, missing_names, other_names
from rubrica.judges.text.covering import Cover, cover
from rubrica.judges.text.figures import figures, lists_figures
from rubrica.judges.text.finding import met, plain_score
from rubrica.judges.text.gist import DOUBT
from rubrica.judges.text.guesses import BEGINNING, alike, guessed
from rubrica.judges.text.items import elsewhere, rivals_of
from rubrica.judges.text.ledger import ledger
from rubrica.judges.text.looks import ABSENT, Look, Outcome, against, hedge_added
from rubrica.judges.text.quantities import quantities
from rubrica.judges.text.reading import Reading, read, states
from rubrica.judges.text.sentences import Sentence
from rubrica.judges.text.sides import Terms
from rubrica.judges.text.told import Told, told
from rubrica.judges.text.topic import off_topic
from rubrica.judges.text.wanted import Wanted, wanted

Sure = Literal["high", "medium", "low"]
#: Less of a claim's key than this, and a sentence does not speak of it.
_TOUCHED = 0.3
#: Sentences that no claim accounts for in a short answer, and what one has to have of a claim.
_FEW, _TRACE = 6, 0.11
#: A score above which no other figure counts against what was found.
_SETTLED = 0.85
_YES_NO = re.compile(
    r"\W*(?:(yes|yeah|correct|indeed|是的|可以|能|会|对)|no|nope|不可以|不能|不行|不会|不是|没有|否)"
    r"(?=[,.:;!，。：；！]|[ ]?[-–—])",
    re.IGNORECASE,
)
#: How much of a claim a question has that asks whether it is so.
_ASKED_SAME = 0.6
_NONE: Terms = frozenset()
_AND = re.compile(r",? (?:and|while|whereas) |，?而")
_score = attrgetter("score")
_CLAUSE = re.compile(r"[,;](?!\d)|[，；]")


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """What a text says of a claim, and where: `index` is the sentence, -1 for none."""

    kind: Outcome
    index: int = -1
    start: int = 0
    end: int = 0
    score: float = 0.0
    sure: Sure = "low"
    note: str = ""
    #: Whether a denial stands even where another sentence affirms.
    firm: bool = False


_ABSENT = Verdict("absent")


def verdict(claim: str, passages: Sequence[Sentence], context: str = "") -> Verdict:
    """The best that the passages say of the claim. `context` is the question, taken as given.

    A claim of several clauses may be stated in as many sentences, and is denied where one is.
    """
    return _verdict_on(claim, told(passages), context)


def _verdict_on(claim: str, text: Told, context: str, rivals: Terms = _NONE) -> Verdict:
    found = _of_one(claim, text, context, rivals)
    if found.kind == "contradicted":
        halves = figured(claim) if found.note == "another figure" else ()
        return _apart(halves, text, context) or found if halves else found
    clauses = parts(claim)
    if not clauses:
        return found
    several = [_of_one(part, text, context, rivals) for part in clauses]
    for one in several:
        if one.kind == "contradicted" and one.firm:
            return one
    if found.kind == "absent" and all(one.kind == "supported" for one in several):
        return min(several, key=_score)
    return found


def _apart(halves: tuple[str, ...], text: Told, context: str) -> Verdict | None:
    """The weaker verdict where each half is stated of what it is of; else None."""
    apart: list[Verdict] = []
    for half, rivals in zip(halves, rivals_of(halves, context), strict=True):
        one = _of_one(half, text, context, rivals)
        if one.kind != "supported" or not wanted(half, context).heads <= text.gist(one.index):
            return None
        apart.append(one)
    return min(apart, key=_score)


def verdicts(claims: Sequence[str], passages: Sequence[Sentence], context: str) -> list[Verdict]:
    """What the answer to a question says of each of the claims that a good one states."""
    text = Told(passages)
    rivals = rivals_of(tuple(claims), context)
    found = [_verdict_on(claim, text, context, r) for claim, r in zip(claims, rivals, strict=True)]
    said = _YES_NO.match(passages[0].text) if passages else None
    if said is not None:
        for number, claim in enumerate(claims):
            want = wanted(claim, context)
            found[number] = _answered(want, said[1] is not None, found[number], passages)
    if begun := alike(passages):
        for number, one in enumerate(found):
            if one.kind == "supported" and passages[one.index].text[:BEGINNING] in begun:
                want = wanted(claims[number], context)
                if want.quantities and guessed(want, passages, one.index):
                    note = "one of several answers"
                    found[number] = msgspec.structs.replace(one, kind="contradicted", note=note)
    used = {one.index for one in found if one.kind != "absent"}
    if 0 < len(passages) - len(used) <= _FEW:
        spare = [index for index in range(len(passages)) if index not in used]
        for number, one in enumerate(found):
            if one.kind == "absent":
                found[number] = _by_place(claims[number], text, context, spare)
    return found


def _answered(want: Wanted, yes: bool, found: Verdict, passages: Sequence[Sentence]) -> Verdict:
    """What a yes or no at the beginning says of a claim that answers the question."""
    asked = cover(want, want.asked) if want.asked is not None else None
    if asked is None or asked.total < _ASKED_SAME or found.score >= _SETTLED:
        return found
    kind: Outcome = "supported" if yes != denied(want, asked) else "contradicted"
    if found.kind in (kind, "contradicted"):
        return found  # no yes outweighs a denial that follows it
    note = "" if kind == "supported" else "the opposite"
    return verdict_at(Look(kind, 0.6, note), 0, passages)


def _by_place(claim: str, text: Told, context: str, spare: list[int]) -> Verdict:
    """A short answer says little but what was asked: a sentence that no other claim accounts for
    states this one if it has anything of it and denies nothing.
    """
    want = wanted(claim, context)
    best, at, look = _TRACE, -1, ABSENT
    for index in spare if want.units and not want.quantities else ():
        reading = read(text.passages[index].text)
        around = text.before(index)
        whole = cover(want, reading.whole, around)
        if whole.key <= best or not states(reading.text) or hedge_added(want, reading):
            continue
        if want.claim.hedged and reading.certain:
            best, at, look = 1.0, index, Look("contradicted", 0.3, "more than the claim")
        elif against(want, reading, whole, around) is None and not (
            context and off_topic(want, text, index, context)
        ):
            best, at, look = whole.key, index, _placed(want, reading, whole, text.gist(index))
    if at < 0 or look.kind == "absent":
        return _ABSENT
    spare.remove(at)
    return verdict_at(look, at, text.passages)


def _placed(want: Wanted, reading: Reading, whole: Cover, glance: Set[str]) -> Look:
    """What such a sentence says: another name, or no denial of what the claim denies, is no."""
    if missing_names(want, whole, reading.whole):
        other = other_names(want, reading.whole)
        return Look("contradicted", 0.3, "another name") if other else ABSENT
    if want.negative and DOUBT not in glance:
        return Look("contradicted", 0.3, "not denied")
    return Look("supported", 0.3)


@lru_cache(maxsize=512)
def parts(claim: str) -> tuple[str, ...]:
    """The clauses of a claim that say something by themselves; none where there is only one."""
    if not any(map(claim.__contains__, ",;，；")):
        return ()
    found = [part.strip() for part in _CLAUSE.split(claim)]
    if len(found) < 2:
        return ()
    # The shortest is the first to say nothing, and read the fastest.
    return tuple(found) if all(map(_says, sorted(found, key=len))) else ()


def _says(part: str) -> bool:
    """Whether a part has two words or figures; a single one need not be read: Ohio, 1949."""
    bare = part.rstrip(".")
    if bare.isascii() and (bare.isalpha() or bare.isdigit()):
        return False
    return len(units(part)) + len(quantities(part)) >= 2


@lru_cache(maxsize=512)
def figured(claim: str) -> tuple[str, ...]:
    """The two halves of a claim that each have figures of their own: A has 5 and B has 7."""
    found = _AND.split(claim)
    if len(found) != 2 or not all(len(units(half)) > 1 and quantities(half) for half in found):
        return ()
    return tuple(found)


def _of_one(claim: str, text: Told, context: str, rivals: Terms) -> Verdict:
    want = wanted(claim, context)
    if not want.units and not want.quantities:
        return _ABSENT  # it says nothing, and so does any text of it
    best = worst = ABSENT
    at = contrary = -1
    for index, agreed in met(want, text):
        if index < 0:
            if best.score >= _SETTLED:
                break  # another figure elsewhere is of something else
            continue
        sentence = text.passages[index].text
        if states(sentence):
            score = plain_score(want, text, index) if agreed else 0.0
            look = (
                Look("supported", score)
                if score
                else _look(want, read(sentence), text.before(index))
            )
            if look.kind == "supported" and want.quantities:
                look, index = elsewhere(want, text, index, rivals) or (look, index)
            if look.kind == "supported" and context:
                look = ABSENT if off_topic(want, text, index, context) else look
            if look.kind == "supported" and look.score > best.score:
                best, at = look, index
            elif look.kind == "contradicted" and look.score > worst.score:
                worst, contrary = look, index
    if contrary >= 0 and (
        at < 0
        or (worst.firm and worst.score >= max(0.6, best.score - 0.3))
        # Another figure is mostly of something else where one sentence has the claim's.
        or worst.score > best.score + (0.3 if worst.note == "another figure" else 0.15)
    ):
        return verdict_at(worst, contrary, text.passages)
    if at < 0 and lists_figures(want):
        best, at = _shared_out(want, text, context)
    return verdict_at(best, at, text.passages) if at >= 0 else _ABSENT


def _shared_out(want: Wanted, text: Told, context: str) -> tuple[Look, int]:
    """What two sentences side by side say, of which each has some of the figures of a claim."""
    for index, _ in met(want, text):
        if index < 0:
            break
        pair = [one.text for one in text.passages[index : index + 2]]
        if len(pair) < 2 or not all(map(states, pair)):
            continue
        both = read(" ".join(pair))
        if all(map(ledger(both.quantities).mark, want.quantities)):
            look = _look(want, both, text.before(index))
            if look.kind == "supported" and not (context and off_topic(want, text, index, context)):
                return look, index
    return ABSENT, -1


def verdict_at(look: Look, index: int, passages: Sequence[Sentence]) -> Verdict:
    """What a sentence says as the verdict."""
    sure: Sure = "high" if look.score >= 0.8 else "medium" if look.score >= 0.6 else "low"
    found = passages[index]
    return Verdict(look.kind, index, found.start, found.end, look.score, sure, look.note, look.firm)


def _look(want: Wanted, reading: Reading, around: Set[str]) -> Look:
    """What a sentence says of the claim, with the sentence before it for what `it` is."""
    if want.quantities:
        return figures(want, reading, around)
    whole = cover(want, reading.whole, around)
    if whole.key < min(_TOUCHED, want.need) and whole.given < 0.6:
        return ABSENT
    return _words(want, reading, whole, around)


def _words(want: Wanted, reading: Reading, whole: Cover, around: Set[str]) -> Look:
    look = against(want, reading, whole, around)
    if look is not None:
        return look
    if whole.key < want.need or missing_names(want, whole, reading.whole):
        return ABSENT
    if hedge_added(want, reading) or (whole.key < 0.5 and denied(want, whole, only_strong=True)):
        return ABSENT
    return Look("supported", 0.2 + 0.8 * (0.7 * whole.key + 0.3 * whole.total))
