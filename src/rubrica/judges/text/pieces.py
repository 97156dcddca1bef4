"""The words of a sentence in order, each with its ideas, its clause and whether it is denied.

A denial reaches from its word to the end of the clause. The word right after it is its head: in
`did not blame the captain` it is the blame that is denied, and the captain only in passing.
"""

import re
from functools import lru_cache

import msgspec

from rubrica.judges.text.han import cut
from rubrica.judges.text.lists import words_of
from rubrica.judges.text.stems import stem
from rubrica.judges.text.tokens import phrase_from, tokens_of, words_in
from rubrica.judges.text.word import FORBIDDEN, JOINS, RESTRICTED, Ideas, Word, without_polar

_TO_FIGURE = re.compile(r"[a-z]+ to (?:[a-z]+ )?[$€£¥]?\d", re.IGNORECASE)


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A word. `sign` is -1 where it is denied, and twice as much where it is the denial's head."""

    word: str
    term: str
    ideas: Ideas
    sign: int
    clause: int
    start: int
    name: bool
    han: bool


class Pieces(msgspec.Struct, frozen=True, gc=False):
    """The pieces of a sentence, and for each clause whether it hedges or insists."""

    pieces: list[Piece]
    hedged: frozenset[int]
    certain: frozenset[int]
    #: Where each clause but the last ends.
    ends: list[int]


_NOT_AFTER = frozenset(
    ("only", "just", "doubt", "sooner", "later", "earlier", "more", "less", "fewer", "than")
) | frozenset(("merely", "least", "until", "surprise", "wonder", "matter"))
_FALSE = re.compile(
    r"(?<!not )\b(?:false|untrue|a myth|a misconception|incorrect|not true|not the case)"
    r"(?: that\b|\.?\Z)|\bwhich is wrong\.?\Z|\b(?:wrong|incorrect|false) to (?:say|claim|think)"
    r"|是错误的|是错的|并不属实|不属实|是谣言|是误解|是误传|说法有误",
    re.IGNORECASE,
)
_HINTS = ("false", "true", "myth", "misconception", "correct", "the case", "wrong")
_HAN_HINTS = ("错", "误", "属实", "谣言")
#: Before `against`, these deny what follows.
_ADVISING = frozenset(map(stem, ("advise", "warn", "decide", "recommend", "caution")))
#: Those whom a rule lets do something, before `may`; what they may feel is no rule.
_MAY = re.compile(
    r"\b(?:you|we|one|anyone|nobody|everyone|visitors|members|tenants|landlords|guests|passengers"
    r"|citizens|residents|customers|pupils|students|teachers|employees|employers|parents|owners"
    r"|staff)[ ]may[ ]?\Z",
    re.IGNORECASE,
)
_FELT = frozenset(
    ("be", "have", "feel", "find", "experience", "notice", "see", "need", "want", "also", "well")
) | frozenset(("get", "suffer", "develop", "lose", "become", "think", "know", "wonder", "still"))
_SUBORDINATE = frozenset(("when", "where", "which", "who", "whose", "whom", "that"))
#: Where these are denied, so is what they are said of: `a vaccine does not exist`.
_EXISTING = frozenset(map(stem, ("exist", "available", "known", "present")))
#: The same of these forms: `meat is not allowed` is `no meat`.
_GRANTED = frozenset(
    ("allowed", "permitted", "possible", "accepted", "included", "needed", "required", "necessary")
)
_LETS: Ideas = (("@allow", 1),)
_NOWHERE: frozenset[int] = frozenset()
_IS = frozenset(("is", "are", "was", "were", "be", "been", "being", "strictly"))


def pieces(text: str) -> Pieces:
    """The pieces of a sentence that has been folded."""
    return _Reader(text).read()


def _is_hinted(text: str) -> bool:
    """A look for the words saves the pattern on nearly every sentence."""
    if not text.isascii() and any(map(text.__contains__, _HAN_HINTS)):
        return True
    return any(map(text.lower().__contains__, _HINTS))


class _Reader:
    """One pass over a sentence."""

    __slots__ = (
        "certain",
        "ends",
        "false",
        "found",
        "head",
        "hedged",
        "joined",
        "plain",
        "sign",
        "text",
    )

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Piece] = []
        self.ends: list[int] = []
        # `That X is Y is false` denies all of it.
        self.false = _FALSE.search(text) if _is_hinted(text) else None
        self.plain = self.sign = -1 if self.false else 1
        self.head = self.joined = False
        self.hedged = self.certain = _NOWHERE

    def read(self) -> Pieces:
        tokens, starts = tokens_of(self.text)
        words = [*words_in(tokens, self.text.isascii()), None]
        found, ends = self.found, self.ends
        done = -1
        for at, (token, start, word) in enumerate(zip(tokens, starts, words, strict=False)):
            if word is None:
                if token[0] > "⺀" and token != "。":
                    self._chinese(token, start)
                elif not token[0].isdigit():
                    following = words[at + 1]
                    # `in 1998, when it was automated` is one clause.
                    if token != "," or following is None or following.lower not in _SUBORDINATE:
                        self._boundary(start)
            elif word.skip or at <= done:
                continue
            elif (
                word.phrases
                and (following := words[at + 1]) is not None
                and (word.far or following.term in word.nexts)
                and (phrase := phrase_from(words, at)) is not None
            ):
                done = at + self._english(word, words, at, token, start, phrase)
            elif word.idle:
                continue
            elif word.bare and at and not self.head and not self.false:
                # Most words come here: nothing but the word has to be looked at.
                self.joined = False
                found.append(
                    Piece(
                        token, word.term, word.inner, self.sign, len(ends), start, word.name, False
                    )
                )
            elif word.joins:
                self.joined = True
            else:
                done = at + self._english(word, words, at, token, start)
        return Pieces(found, self.hedged, self.certain, ends)

    def _boundary(self, place: int) -> None:
        self.ends.append(place)
        self.sign, self.head = self.plain, False

    def _english(
        self,
        word: Word,
        words: list[Word | None],
        at: int,
        token: str,
        start: int,
        phrase: tuple[tuple[str, ...], Ideas] = ((), ()),
    ) -> int:
        """Takes a word in; the number of words behind it that belong to a phrase of denial.

        `not enough` is one idea: neither is `enough` taken for itself, nor what follows denied.
        """
        following = words[at + 1] if at + 1 < len(words) else None
        role = word.role
        if role == "not" and phrase[0] and self.text.endswith("but ", 0, start):
            phrase = ((), ())  # for adults but not for children
        taken, ideas = len(phrase[0]), phrase[1] + word.ideas
        whole = taken if role == "not" else 0
        value = token == "None" and at > 0 and (following is None or following.lower != "of")
        # `Without` inside quotes is of a title.
        titled = value or (role and word.capital and at and self._within(words, at))
        if role and not whole and not titled:
            self._role(role, "" if following is None else following.lower, start)
        self.joined = word.lower in JOINS
        grammar = word.stop and not taken and not value
        # What is refused or lacking is denied, not the refusal; what declined to 3% fell.
        denies = role == "lack" or (
            following is not None
            and following.lower == role
            and not titled
            and not _TO_FIGURE.match(self.text, start)
        )
        if denies and word.term == "ceas":
            self._deny()  # it was so before: the ceasing itself is the point
            denies = False
        if grammar and (len(token) > 1 or token in "AI" or token.islower()):
            if denies:
                self._deny()
            return 0
        # The first word has a capital whatever it is.
        plain = not at and word.capital and not word.coded
        name = self._opens_name(token, start) if plain else word.name
        if name and word.polar and at:
            ideas = without_polar(ideas)
        lower = word.lower
        denied = (
            self.head and self.sign < 0 and (word.term in _EXISTING or lower in _GRANTED)
        ) or (self.sign > 0 and lower in FORBIDDEN and self._after_is(words, at))
        if lower == RESTRICTED and following is not None and following.lower == "to":
            ideas = _LETS
        self._add(token, word.term, ideas, start, name, False)
        if denied:
            self._deny_before()
        if denies:
            self._deny()
        return whole

    def _after_is(self, words: list[Word | None], at: int) -> bool:
        before = words[at - 1] if at else None
        return before is not None and before.lower in _IS

    def _within(self, words: list[Word | None], at: int) -> bool:
        """Whether a word with a capital stands inside a name: The Night We Never Met."""
        before, after = words[at - 1], words[at + 1] if at + 1 < len(words) else None
        return before is not None and before.capital and after is not None and after.capital

    def _deny_before(self) -> None:
        for at in range(len(self.found) - 2, -1, -1):
            if self.found[at].clause != len(self.ends):
                break
            self.found[at] = msgspec.structs.replace(self.found[at], sign=-2)

    def _opens_name(self, token: str, start: int) -> bool:
        after = self.text[start + len(token) + 1 : start + len(token) + 2]
        return after.isupper() or token.endswith("'s")

    def _role(self, role: str, then: str, start: int) -> None:
        if role == "not":
            if then == "of":
                self.sign = -self.sign  # none of the patients died: it is dying that is denied
            elif then not in _NOT_AFTER and not self._counted(start):
                self._deny()
        elif role == "against":
            if self.found and self.found[-1].term in _ADVISING:
                self._deny()
        elif role == "seem":
            if then in ("to", "that", "likely"):
                self.hedged |= {len(self.ends)}
        elif role == "hedge":
            # `may not` and `may no longer` forbid.
            if then in ("not", "no", "only", "never"):
                self.found.append(
                    Piece("may", "may", _LETS, -2, len(self.ends), start, False, False)
                )
            elif then in _FELT or not self._rules(start):
                self.hedged |= {len(self.ends)}
            else:
                self._add("may", "may", _LETS, start, False, False)
        elif role == "certain":
            self.certain |= {len(self.ends)}
        elif role == "break" and self.text.endswith("nything ", 0, start):
            self._deny()  # anything but free
        elif role == "break":
            self._boundary(start)

    def _rules(self, start: int) -> bool:
        """Whether the `may` here is of a rule: `Only staff may enter`."""
        if self.text.startswith("Only ") and not self.ends:
            return True
        return _MAY.search(self.text, max(0, start - 14), start + 4) is not None

    def _counted(self, start: int) -> bool:
        """Whether this is the `not` of `not true that`, which has denied the whole already."""
        return self.false is not None and self.false.start() <= start < self.false.end()

    def _deny(self) -> None:
        # `never arrived and no veto` denies twice, side by side; `not without` denies a denial.
        beside = self.joined and self.sign < 0
        self.sign, self.head = (-1 if beside else -self.sign), True

    def _chinese(self, run: str, start: int) -> None:
        for word, at, known in cut(run):
            if known is None:
                self._add(word, word, (), start + at, _person(word), True)
                continue
            if known.said:
                self._add(word, word, known.ideas, start + at, False, True)
            if known.hedge:
                self.hedged |= {len(self.ends)}
            if known.certain:
                self.certain |= {len(self.ends)}
            if known.denies:
                self._deny()

    def _add(self, word: str, term: str, ideas: Ideas, start: int, name: bool, han: bool) -> None:
        sign = self.sign
        if self.head or self.false:
            sign, self.head = 2 * sign, False
        self.found.append(Piece(word, term, ideas, sign, len(self.ends), start, name, han))


@lru_cache(maxsize=4096)
def _person(word: str) -> bool:
    """Whether characters that no list knows read as a person's name."""
    surnames = words_of("surnames.txt")
    if "·" in word:
        return True
    return (2 <= len(word) <= 3 and word[0] in surnames) or (
        3 <= len(word) <= 4 and word[:2] in surnames
    )
