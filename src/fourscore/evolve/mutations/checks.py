"""The checks that every proposed prompt has to pass before an agent gets it.

The first problem found is the reason of the refusal. Nothing is repaired: a text that lost a
placeholder may have lost more.

A prompt must not address a judge, contain fence marks, keys, invisible characters or new links, and
must not repeat what an agent wrote: a failure may contain an injected instruction, and a model that
improves a prompt may copy it. A forbidden word is allowed as often as the parent prompt has it. The
built-in patterns take time in proportion to the text; patterns from the settings run on texts whose
length was checked before.
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from fourscore.core import ConfigError
from fourscore.core.numbers import check_finite
from fourscore.evolve.mutations.failures import Failure
from fourscore.evolve.mutations.prompt_text import find_broken_placeholder
from fourscore.evolve.mutations.strategies import MutationRecord, digest_prompt
from fourscore.judges.chat_tokens import TURN_TOKEN
from fourscore.judges.hidden_text import INVISIBLE, remove_invisible


class Checks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits for a proposed prompt.

    `shortest` and `longest` are multiples of the parent's length. `required` are lines that must
    stay, `placeholders` are texts to keep like the placeholders that are found. `forbidden` are
    regular expressions; `use_built_in` adds the built-in ones.
    """

    shortest: float = 0.5
    longest: float = 2.0
    required: tuple[str, ...] = ()
    placeholders: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    use_built_in: bool = True

    def __post_init__(self) -> None:
        check_finite("shortest", self.shortest, low=0, high=1)
        check_finite("longest", self.longest, low=1)
        if any("\n" in line or not line.strip() for line in self.required):
            raise ConfigError("expected whole lines, one line in each entry", field="required")
        if not all(self.placeholders):
            raise ConfigError("expected texts such as {name}", field="placeholders")
        compile_patterns(self.forbidden)

    def find_problem(
        self,
        parent: str,
        text: str,
        record: MutationRecord,
        failures: Sequence[Failure] = (),
        number: str = "",
    ) -> str | None:
        """Return why the text is refused, or None. `number` is that of the fence a model got."""
        if (why := self._size(parent, text)) is not None:
            return why
        if digest_prompt(text) == digest_prompt(parent):
            return "it is the parent, unchanged"
        if record.has_text(text):
            return "it was tried before"
        if (why := find_broken_placeholder(parent, text, self.placeholders)) is not None:
            return why
        lines = {line.strip() for line in text.split("\n")}
        for line in self.required:
            if line.strip() not in lines:
                return f"the required line is gone: {line.strip()[:80]}"
        if number and number in text.lower():
            return "it contains the number of the fence"
        if (why := find_forbidden(parent, text, self.patterns)) is not None:
            return why
        words = [piece for failure in failures for piece in failure.foreign_texts]
        if find_copied_text(parent, text, words) is not None:
            return "it repeats a part of a failure word for word"
        return None

    @property
    def patterns(self) -> dict[str, re.Pattern[str]]:
        return {**(BUILT_IN if self.use_built_in else {}), **compile_patterns(self.forbidden)}

    def _size(self, parent: str, text: str) -> str | None:
        had, has = len(parent.strip()), len(text.strip())
        if not has:
            return "it is empty"
        if not self.shortest * had <= has <= self.longest * had:
            low, high = self.shortest * had, self.longest * had
            return f"it has {has} characters, expected {low:.0f} to {high:.0f}"
        return None


#: The least weight of a copied passage: 8 words (3 each) or 12 Chinese characters (2 each).
ENOUGH = 24
#: The least length of a single word that counts as a copy, such as an address or a key.
LONG = 24
_TOKEN = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]|[^\W_぀-ヿ㐀-鿿豈-﫿가-힯]+")
_WIDE = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]")


def find_copied_text(parent: str, text: str, material: Iterable[str]) -> str | None:
    """Return the first passage of the text that is in the material and not in the parent."""
    known = set(_passages(parent))
    new = [words for words in _passages(text) if words not in known]
    if not new:
        return None
    theirs = {words for piece in material for words in _passages(piece)}
    return next((" ".join(words) for words in new if words in theirs), None)


def _passages(text: str) -> Iterator[tuple[str, ...]]:
    """Yield long words and, from each word on, the shortest passage of at least weight `ENOUGH`."""
    words = _TOKEN.findall(remove_invisible(text).lower())
    weights = [2 if _WIDE.match(word) else 3 for word in words]
    for word in words:
        if len(word) >= LONG:
            yield (word,)
    end = weight = 0
    for start, own in enumerate(weights):
        while weight < ENOUGH and end < len(words):
            weight += weights[end]
            end += 1
        if weight < ENOUGH:
            return
        yield tuple(words[start:end])
        weight -= own


#: The built-in patterns, by the reason that is given for a match.
BUILT_IN: Mapping[str, re.Pattern[str]] = {
    "it has invisible characters": INVISIBLE,
    "it addresses a judge": re.compile(
        r"\b(?:judges?|graders?|evaluators?|scorers?|autograders?|raters?|reward models?)\b"
        r"|裁判|评委|评审|评判者|评估者|评分者|评分员|评分模型",
        re.IGNORECASE,
    ),
    "it asks for a score": re.compile(
        r"\b(?:scores?|scoring|grading|ratings?|rubrics?|pass_threshold)\b"
        r"|\b(?:full|top|highest|maximum|perfect|best)[ \t]{1,4}(?:marks?|grades?|points)\b"
        r"|\b(?:verdict|reward)s?\b"
        r"|评分|打分|得分|高分|满分|分数",
        re.IGNORECASE,
    ),
    "it has fence marks or chat markers": re.compile(
        rf"\[/?[0-9a-f]{{12}}\b|{TURN_TOKEN.pattern}"
        r"|^[ \t]{0,8}(?:system|assistant|user|human)[ \t]{0,4}:[ \t]*$",
        re.IGNORECASE | re.MULTILINE,
    ),
    "it has what looks like a key": re.compile(
        r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16}"
        r"|\bgh[opsur]_[A-Za-z0-9]{20}|\bgithub_pat_\w{20}|\bglpat-[\w-]{16}|\bhf_[A-Za-z0-9]{20}"
        r"|\bA(?:KIA|SIA)[A-Z0-9]{12}|\bAIza[\w-]{30}|\bxox[abeoprs]-[A-Za-z0-9-]{10}"
        r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY|\beyJ[\w-]{10,200}\.[\w-]{10}"
        r"|\b(?:api[_-]?key|password|passwd|secret|access[_-]?token)\b"
        r"[ \t]{0,4}[=:][ \t]{0,4}\S{8}",
        re.IGNORECASE,
    ),
    "it has a link that the parent does not have": re.compile(
        r"\b(?:https?|ftp|wss?)://[^\s<>\"'()\[\]]{1,200}|\bdata:[a-z]{1,20}/[^\s,]{1,60}",
        re.IGNORECASE,
    ),
}


def compile_patterns(own: Sequence[str]) -> dict[str, re.Pattern[str]]:
    """Return the patterns from the settings, by the reason that is given for a match."""
    rules: dict[str, re.Pattern[str]] = {}
    for place, text in enumerate(own):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about sets that Python may read otherwise one day
                rules[f"it is forbidden by {text!r}"] = re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            message = f"not a regular expression: {error}"
            raise ConfigError(message, field=f"forbidden[{place}]") from None
    return rules


def find_forbidden(parent: str, text: str, rules: Mapping[str, re.Pattern[str]]) -> str | None:
    """Return the line and the reason of the first match that the parent has less often.

    The match itself is not quoted: it may be a key.
    """
    for what, rule in rules.items():
        had = Counter(found[0].lower() for found in rule.finditer(parent))
        for found in rule.finditer(text):
            word = found[0].lower()
            had[word] -= 1
            if had[word] < 0:
                line = text.count("\n", 0, found.start()) + 1
                return f"line {line}: {what}"
    return None
