"""Which source a citation means, if there is one."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from unicodedata import normalize

import msgspec

from rubrica.judges.citing.addresses import addresses_in, doi_of, same_address
from rubrica.judges.citing.find import Citation
from rubrica.judges.citing.references import Reference, key_of
from rubrica.judges.citing.sources import Source

_WORDS = re.compile(r"[^\W\d_]+")
_CJK = re.compile(r"[㐀-鿿]")
_SMALL = frozenset([
    "and", "et", "al", "the", "of", "for", "a", "an", "in", "on", "by", "with", "und", "de", "la",
    "van", "von", "der", "jr", "sr", "dr",
])  # fmt: skip
_AUTHORS = re.compile(r"\s*(?:[;；、&]|\band\b|和|与)\s*")
_SEVERAL = re.compile(r"[;；]|,\s?[A-Z]\.")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


class Resolved(msgspec.Struct, frozen=True, gc=False):
    """The source, and whether the marker needed some goodwill to be understood."""

    source: Source
    flawed: bool = False
    note: str = ""


def resolve(
    citation: Citation, references: Mapping[str, str], sources: Sequence[Source]
) -> Resolved | None:
    """The source that is meant; None where the citation leads nowhere."""
    if citation.form in ("link", "url", "doi"):
        return _by_address(citation.marker, sources)
    if citation.form == "author_year":
        return (
            _by_id(citation.marker, sources)
            or _by_author(citation.marker, sources)
            or _by_name(citation.marker, sources)
        )
    key = key_of(citation.marker)
    if key in references:
        return _by_entry(references[key], sources)
    if citation.form == "footnote" and not references:
        return _by_id(key, sources) or _by_position(key, sources)
    if citation.form == "number":
        if any(name.isdigit() for name in references):
            return None  # the list is the output's own numbering, and this is not on it
        return _by_id(key, sources) or _by_position(key, sources)
    if citation.form == "name":
        return (
            _by_id(key, sources) or _by_author(citation.marker, sources) or _by_name(key, sources)
        )
    return None


def resolve_entry(entry: Reference, sources: Sequence[Source]) -> Resolved | None:
    """The source that an entry of the reference list is."""
    return _by_entry(entry.text, sources)


def _by_entry(entry: str, sources: Sequence[Source]) -> Resolved | None:
    """An entry of the reference list: by its address, or by title, author and year."""
    addresses = addresses_in(entry)
    if addresses or doi_of(entry):
        for address in addresses:
            if found := _by_address(address, sources):
                return found
        return _by_address(doi_of(entry), sources) if doi_of(entry) else None
    return _by_description(entry, sources)


def _by_address(address: str, sources: Sequence[Source]) -> Resolved | None:
    doi, wanted = doi_of(address), same_address(address)
    for source in sources:
        if not source.url:
            continue
        if same_address(source.url) == wanted or (doi and doi == doi_of(source.url)):
            return Resolved(source)
    for source in sources:
        if source.url and same_address(source.url).casefold() == wanted.casefold():
            return Resolved(source, True, "its address differs in capitals")
    return None


def _by_id(key: str, sources: Sequence[Source]) -> Resolved | None:
    wanted = key_of(key)
    for source in sources:
        if source.id and key_of(source.id) == wanted:
            return Resolved(source)
    loose = _loose(wanted)
    for source in sources:
        if source.id and loose and _loose(key_of(source.id)) == loose:
            return Resolved(source, not wanted.isdigit(), f"the source is called {source.id}")
    return None


def _loose(key: str) -> str:
    """`S1`, `source-1` and `doc 01` are 1; `smith2020` and `smith-2020` are one."""
    plain = re.sub(r"[\s_.:#,，-]+", "", key)
    numbered = re.fullmatch(r"(?:s|src|source|ref|doc|document|来源|资料|文献)?0*(\d+)", plain)
    return numbered[1] if numbered else plain


def _by_position(key: str, sources: Sequence[Source]) -> Resolved | None:
    """By place in the list, where the sources bear no numbers of their own."""
    if not key.isdigit() or not 0 < int(key) <= len(sources):
        return None
    if any(_loose(key_of(source.id)).isdigit() for source in sources if source.id):
        return None
    source = sources[int(key) - 1]
    flawed = bool(source.id)
    return Resolved(source, flawed, f"the source is called {source.id}" if flawed else "")


def _by_author(marker: str, sources: Sequence[Source]) -> Resolved | None:
    """`Smith & Lee, 2020` by the first author's name and the year."""
    year = _YEAR.search(marker)
    names = _names(marker[: year.start()] if year else marker)
    if not names:
        return None
    matching = [source for source in sources if source.author and _same(names, source)]
    if not year:
        return Resolved(matching[0], True, "without a year") if len(matching) == 1 else None
    for source in matching:
        if _YEAR.findall(source.year)[:1] == [year[0]]:
            return Resolved(source)
    undated = [source for source in matching if not source.year]
    if undated:
        return Resolved(undated[0])
    return None


def _same(names: tuple[str, ...], source: Source) -> bool:
    """Whether the first name cited is the first author's, or the second of both."""
    authors = _names(source.author)
    if not authors:
        return False
    first, given = names[0], authors[0]
    if _CJK.search(first) or _CJK.search(given):
        return first.endswith(given) or (len(first) >= 2 and given.startswith(first))
    mine, theirs = set(_WORDS.findall(first)) - _SMALL, set(_WORDS.findall(given)) - _SMALL
    if not mine:
        return False
    if "," in given or len(theirs) < 2 or len(mine) == 1:
        family = given.partition(",")[0] if "," in given else given
        return bool(mine & set(_WORDS.findall(family))) and _short_ok(mine, theirs)
    return mine <= theirs or theirs <= mine


def _short_ok(mine: set[str], theirs: set[str]) -> bool:
    """An initial of a given name is no name to be known by."""
    return any(len(word) > 1 for word in mine & theirs) or max(map(len, mine)) == 1


@lru_cache(maxsize=2048)
def _names(authors: str) -> tuple[str, ...]:
    """The authors one by one, folded; `et al.` and `等` are nobody."""
    plain = normalize("NFKC", authors).casefold()
    plain = re.sub(r"\bet\.? al\b\.?|等人?$|等人?[,，]?\s*$|['’]s\b", "", plain.strip(" ,，"))
    return tuple(name.strip(" ,，.") for name in _AUTHORS.split(plain) if name.strip(" ,，."))


def _by_name(marker: str, sources: Sequence[Source]) -> Resolved | None:
    """By a piece of title, author, id or host that one source alone bears: not by its id."""
    year = _YEAR.search(marker)
    name = marker[: year.start()] if year else marker
    mine = _letters(name)
    if len(mine) < 2 or (len(mine) < 3 and not _CJK.search(mine)):
        return None
    found = [source for source in sources if _bears(mine, source)]
    if year:
        found = [source for source in found if not source.year or year[0] in source.year]
    if len(found) != 1:
        return None
    return Resolved(found[0], True, "the marker is not the source's id")


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, normalize("NFKC", text).casefold()))


def _bears(mine: str, source: Source) -> bool:
    """Chinese names are shortened: 世卫组织 for 世界卫生组织 keeps the characters in order."""
    for field in (source.title, source.author, source.id):
        theirs = _letters(field)
        if not theirs or (field == source.author and _SEVERAL.search(field)):
            continue  # one of several authors is not known by being the second
        if mine in theirs or (len(theirs) > 3 and theirs in mine):
            return True
        if _CJK.search(mine) and len(mine) >= 3 and _in_order(mine, theirs):
            return True
        if mine == _initials(field):
            return True
    host = same_address(source.url).partition("/")[0].split(".") if source.url else []
    return any(mine == part for part in host[:-1])


def _in_order(short: str, long: str) -> bool:
    rest = iter(long)
    return len(short) * 3 >= len(long) and all(sign in rest for sign in short)


def _initials(name: str) -> str:
    words = [word for word in _WORDS.findall(name.casefold()) if word not in _SMALL]
    return "".join(word[0] for word in words) if len(words) > 1 else ""


def _by_description(entry: str, sources: Sequence[Source]) -> Resolved | None:
    """`Smith, J. (2020). Title.` without an address."""
    letters, year = _letters(entry), _YEAR.search(entry)
    for source in sources:
        title = _letters(source.title)
        if len(title) >= 4 and (title in letters or (len(letters) > 12 and letters in title)):
            return Resolved(source)
    for source in sources:
        names = _names(source.author)
        family = _letters(names[0].partition(",")[0]) if names else ""
        if len(family) > 1 and family in letters and year and year[0] in source.year:
            return Resolved(source)
    for source in sources:
        if source.id and key_of(source.id) == key_of(entry):
            return Resolved(source)
    host = [s for s in sources if s.url and same_address(s.url) == same_address(entry)]
    if host:
        return Resolved(host[0])
    return _by_name(entry, sources)
