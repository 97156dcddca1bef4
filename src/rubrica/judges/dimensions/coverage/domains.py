"""Which fields of life a text is about: a coarse view for answers that share no word with it."""

from collections import Counter
from collections.abc import Mapping
from functools import cache

from rubrica.judges.dimensions.coverage.concepts import table
from rubrica.judges.dimensions.coverage.scanning import Scanner, key_of, keys_in

#: Words of a field that show that a text is about it.
_ENOUGH = 2


@cache
def _fields() -> tuple[Scanner, Mapping[str, tuple[str, ...]]]:
    """A scanner of all words, and the fields of each."""
    fields: dict[str, tuple[str, ...]] = {}
    for name, words in table("domains.toml").items():
        for word in {key_of(word) for word in words.split(",")}:
            fields[word] = (*fields.get(word, ()), name)
    return Scanner(fields), fields


def words_by_field(text: str) -> Counter[str]:
    """How many words of each field a text has."""
    scanner, fields = _fields()
    lower = text.lower()
    return Counter(
        name for word in scanner.find(lower, keys_in(lower)) for name in fields[word]
    )


def is_same_field(asked: Counter[str], answer: str) -> bool:
    """Whether an answer is mostly about a field that was asked about."""
    if not asked:
        return False
    said = words_by_field(answer)
    most = max(said.values(), default=0)
    return most >= _ENOUGH and any(2 * said[name] > most and said[name] > 1 for name in asked)
