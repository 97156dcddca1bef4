"""Checks of text: exact, one_of, contains, starts_with, regex, equals_ignoring."""

import re
import unicodedata
from functools import lru_cache
from typing import Any, ClassVar, Literal

from fourscore.core import Case, ConfigError, Evidence, Signal, Trace
from fourscore.judges.checks.check import (
    Check,
    Texts,
    join_or,
    list_texts,
    read_answer,
    read_texts,
    shorten,
)
from fourscore.judges.dimensions.signals import quote

#: Which of several texts have to be found.
Need = Literal["all", "any", "none"]
#: A difference that `equals_ignoring` ignores; `form` is the Unicode form (full width, ligatures).
Difference = Literal["case", "space", "punctuation", "form"]
#: The sign or the decimal point of a number.
_OF_NUMBER = re.compile(r"(?<=\d)[.,](?=\d)|(?<!\w)-(?=\d)")
#: Most characters of a pattern, and megabytes that a compiled pattern may take.
_MAX_PATTERN, _PATTERN_MEGABYTES = 10_000, 8


class Exact(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer is exactly the text; space at both ends does not count.

    text: the right answer, or a list of right answers; without it, what the case expects

    Example: {exact: Rome}
    """

    name: ClassVar[str] = "exact"
    main: ClassVar[str] = "text"
    text: Texts = None

    def measure(self, case: Case, trace: Trace) -> Signal:
        answer, texts = read_answer(trace), read_texts(self.text, case)
        if answer in texts:
            return self.decide(True, "the answer is the expected text")
        return self.decide(False, f"the answer is {shorten(answer)}, expected {join_or(texts)}")


class OneOf(Exact, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer is exactly one of the texts.

    text: the right answers; without it, what the case expects

    Example: {one_of: [Rome, Roma]}
    """

    name: ClassVar[str] = "one_of"


class Contains(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer contains the text.

    text: the text, or a list of texts; without it, what the case expects
    need: of several texts, `all`, `any` or `none` of them; by default all of the option `text`, and
        any of what the case expects
    ignore_case: whether `rome` is found in `Rome`

    Example: {contains: [Rome, Italy], need: all}
    """

    name: ClassVar[str] = "contains"
    main: ClassVar[str] = "text"
    text: Texts = None
    need: Need | None = None
    ignore_case: bool = False

    def measure(self, case: Case, trace: Trace) -> Signal:
        answer, texts = trace.answer, read_texts(self.text, case)
        read = read_answer(trace)
        if self.ignore_case:
            read = read.casefold()
        present = [one for one in texts if (one.casefold() if self.ignore_case else one) in read]
        missing = [one for one in texts if one not in present]
        need = self.need or ("any" if self.text is None else "all")
        spans = [(answer.find(one), len(one)) for one in present]
        evidence = [quote(answer, at, at + size) for at, size in spans[:20] if at >= 0]
        if need == "none":
            reason = f"the answer contains {join_or(present)}" if present else "none is found"
            return self.decide(not present, reason, evidence)
        passed = not missing if need == "all" else bool(present)
        reason = f"the answer does not contain {join_or(missing)}"
        return self.decide(passed, "the answer contains the text" if passed else reason, evidence)


class StartsWith(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer starts with the text.

    text: the text, or a list of texts of which one is enough; without it, what the case expects
    ignore_case: whether `yes` may stand for `Yes`

    Example: {starts_with: "Dear customer"}
    """

    name: ClassVar[str] = "starts_with"
    main: ClassVar[str] = "text"
    text: Texts = None
    ignore_case: bool = False

    def measure(self, case: Case, trace: Trace) -> Signal:
        answer, texts = read_answer(trace), read_texts(self.text, case)
        # Folding case can change the length of a text, but hardly that of so many characters.
        start = answer[: 2 * max(map(len, texts))]
        if self.ignore_case:
            passed = start.casefold().startswith(tuple(map(str.casefold, texts)))
        else:
            passed = start.startswith(tuple(texts))
        if passed:
            return self.decide(True, "the answer starts with the text")
        return self.decide(
            False, f"the answer starts with {shorten(answer)}, expected {join_or(texts)}"
        )


class Regex(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    r"""Passes if the pattern is found in the answer, in time linear in the answer (RE2 syntax).

    pattern: the pattern, or a list of patterns; RE2 has no backreferences and no lookaround
    need: of several patterns, `all` (default), `any` or `none` of them
    whole: whether the pattern has to match the whole answer

    Example: {regex: '\d{4}-\d{2}-\d{2}'}
    """

    name: ClassVar[str] = "regex"
    main: ClassVar[str] = "pattern"
    pattern: str | tuple[str, ...]
    need: Need = "all"
    whole: bool = False

    def __post_init__(self) -> None:
        if not list_texts(self.pattern):
            raise ConfigError("expected a pattern", field="pattern")
        for pattern in list_texts(self.pattern):
            compile_pattern(pattern)

    def measure(self, case: Case, trace: Trace) -> Signal:
        answer = read_answer(trace)
        found: list[Evidence] = []
        missing: list[str] = []
        patterns = list_texts(self.pattern)
        for pattern in patterns:
            compiled = compile_pattern(pattern)
            match = compiled.fullmatch(answer) if self.whole else compiled.search(answer)
            if match is None:
                missing.append(pattern)
            else:
                found.append(Evidence(text=match[0][:500], field="answer"))
        if self.need == "none":
            return self.decide(not found, "found" if found else "not found", found)
        passed = not missing if self.need == "all" else bool(found)
        reason = "the pattern is found" if passed else f"not found: {join_or(missing)}"
        return self.decide(passed, reason, found)


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Any:
    """Return a compiled RE2 pattern, which matches in linear time."""
    import re2

    if len(pattern) > _MAX_PATTERN:
        raise ConfigError(f"longer than {_MAX_PATTERN:,} characters", field="pattern")
    options = re2.Options()
    options.max_mem = _PATTERN_MEGABYTES << 20
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        words = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        message = f"{shorten(pattern)} is no pattern: {words}"
        raise ConfigError(message, field="pattern") from None


class EqualsIgnoring(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer equals the text apart from case, space, punctuation and Unicode form.

    The sign and the decimal point of a number are no punctuation.

    text: the right answer, or a list of right answers; without it, what the case expects
    ignore: the differences that do not count; by default `case`, `space`, `punctuation`, `form`

    Example: {equals_ignoring: "new york", ignore: [case]}
    """

    name: ClassVar[str] = "equals_ignoring"
    main: ClassVar[str] = "text"
    text: Texts = None
    ignore: tuple[Difference, ...] = ("case", "space", "punctuation", "form")

    def measure(self, case: Case, trace: Trace) -> Signal:
        answer, texts = read_answer(trace), read_texts(self.text, case)
        longest = max(map(len, texts))
        # An answer much longer than the text is not equal to it, however little is left of it.
        if len(answer) <= 4 * longest + 1_000:
            plain = self.simplify(answer)
            if any(plain == self.simplify(one) for one in texts):
                return self.decide(True, "the answer equals the text")
        return self.decide(False, f"the answer is {shorten(answer)}, expected {join_or(texts)}")

    def simplify(self, text: str) -> str:
        """Return a text without the differences that do not count."""
        if "form" in self.ignore:
            text = unicodedata.normalize("NFKC", text)
        if "case" in self.ignore:
            text = text.casefold()
        if "punctuation" in self.ignore:
            kept = {found.start() for found in _OF_NUMBER.finditer(text)}
            plain = "".join(
                " " if at not in kept and unicodedata.category(one)[0] == "P" else one
                for at, one in enumerate(text)
            )
            text = plain if plain.strip() else text
        return "".join(text.split()) if "space" in self.ignore else text.strip()
