"""The checks `language` and `length`."""

import re
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, Literal

from fourscore.core import Case, ConfigError, Signal, Trace
from fourscore.core.extras import require_extra
from fourscore.judges.checks.check import Check, read_answer
from fourscore.judges.reader.text import find_sentence_ends, split_words

#: Most characters from which a language is recognised.
_MAX_READ = 20_000
#: Characters above which a text is too long to be split into words and sentences.
MAX_LENGTH = 2_000_000
#: Code in the answer is in no natural language.
_FENCED = re.compile(r"(?:^|\n)(?:```|~~~)[^\n]*\n(?:(?!```|~~~)[^\n]*\n)*(?:```|~~~)")
#: Written Cantonese is Chinese, and Norwegian has two forms.
_SAME = {"yue": "zh", "nb": "no", "nn": "no"}
Unit = Literal["words", "characters", "sentences", "tokens"]


class Language(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer is written in the language. Needs the extra `checks`.

    language: the language, or a list of languages, as ISO 639-1 codes such as `en`, `zh`, `vi`
    min_characters: a shorter answer is not judged (20): no language can be told from "OK"

    Example: {language: en}
    """

    name: ClassVar[str] = "language"
    main: ClassVar[str] = "language"
    language: str | tuple[str, ...]
    min_characters: int = 20

    def __post_init__(self) -> None:
        require_extra("checks", "the check language")
        known = {*load_identifier().labels, *_SAME.values()}
        for code in self._codes:
            if code not in known:
                message = f"expected codes such as en, zh or vi, got {code!r}"
                raise ConfigError(message, field="language")

    @property
    def _codes(self) -> tuple[str, ...]:
        given = (self.language,) if isinstance(self.language, str) else tuple(self.language)
        codes = (code.strip().lower() for code in given)
        return tuple(_SAME.get(code, code) for code in codes)

    def measure(self, case: Case, trace: Trace) -> Signal:
        answer = _FENCED.sub(" ", read_answer(trace)[:_MAX_READ])
        letters = sum(map(str.isalpha, answer[:_MAX_READ]))
        # Chinese and Japanese say in one character what takes others a word.
        if not letters or len(answer[:_MAX_READ].encode(errors="replace")) < self.min_characters:
            return Signal(name=self.name, reason="the answer is too short to tell its language")
        found = load_identifier().classify(answer)[0]
        found = _SAME.get(found, found)
        wanted = " or ".join(self._codes)
        return self.decide(found in self._codes, f"the answer is in {found}, expected {wanted}")


@cache
def load_identifier() -> Any:
    """Return the identifier of languages, loaded once."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


class Length(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer is neither too long nor too short.

    max: the most words, characters, sentences or tokens
    min: the least of them (0)
    unit: what is counted: `words` (default; a Chinese character is a word), `characters`,
        `sentences`, or `tokens`, as the agent's model reported them

    Example: {length: 50, unit: words}
    """

    name: ClassVar[str] = "length"
    main: ClassVar[str] = "max"
    max: float | None = None
    min: float = 0
    unit: Unit = "words"

    def __post_init__(self) -> None:
        if self.max is None and not self.min:
            raise ConfigError("expected max or min", field="max")
        if self.max is not None and self.min > self.max:
            raise ConfigError("it is above max", field="min")

    def measure(self, case: Case, trace: Trace) -> Signal:
        count = count_length(trace, self.unit)
        if count is None:
            return Signal(name=self.name, reason="the agent reported no tokens")
        if self.max is not None and count > self.max:
            return self.decide(False, f"{count:,} {self.unit}, at most {self.max:,g} expected")
        if count < self.min:
            return self.decide(False, f"{count:,} {self.unit}, at least {self.min:,g} expected")
        return self.decide(True, f"{count:,} {self.unit}")


def count_length(trace: Trace, unit: Unit) -> int | None:
    """Return the length of an answer; None if its tokens are not known."""
    if unit == "tokens":
        return trace.usage.output_tokens if trace.usage is not None else None
    answer = read_answer(trace)
    if unit == "characters":
        return len(answer)
    answer = answer[:MAX_LENGTH]
    if unit == "words":
        return len(split_words(answer))
    ends = [0, *find_sentence_ends(answer)]
    return sum(any(map(str.isalnum, answer[start:end])) for start, end in pairwise(ends))
