"""Works that are known by a number: DOI, arXiv, PubMed, RFC, trials, standards, patents, laws."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from rubrica.judges.reliability.address import Address
from rubrica.judges.reliability.listing import Group, groups

_PAPER = Group("primary", "", "a published paper, by its DOI")
_PREPRINT = Group("primary", "", "a paper on arXiv")
_INDEXED = Group("primary", "", "a paper in PubMed")
_RFC = Group("primary", "software", "a standard of the internet")
_TRIAL = Group("primary", "", "a register of clinical trials")
_STANDARD = Group("primary", "", "a published standard")
_PATENT = Group("primary", "", "a patent")
_LAW = Group("primary", "", "a statute or regulation by its number")
_MALFORMED = Group("unreliable", "", "no such number can exist")
_PLACEHOLDER = Group("unreliable", "", "a placeholder number")

_DOI = re.compile(r"10\.\d{4,9}/\S{2,300}", re.IGNORECASE)
_ARXIV_ID = re.compile(
    r"(\d\d)(\d\d)\.(\d{4,5})(?:v\d{1,2})?\Z|[a-z-]{2,20}(?:\.[A-Z]{2})?/\d{7}(?:v\d)?\Z"
)
_NAMED = re.compile(r"\A\s*doi[:：\s]\s?", re.IGNORECASE)
_ARXIV_PATH = re.compile(r"/(?:abs|pdf|html|format)/([^/]+(?:/\d{7})?)")
_TRIAL_PATH = re.compile(r"NCT\d{8}|ISRCTN\d{8}", re.IGNORECASE)
_RFC_PATH = re.compile(r"/rfc(\d{1,5})\b", re.IGNORECASE)
_MADE_UP = re.compile(r"x{3,}|example|placeholder|fake|your-?doi|\.{3}|#{2,}", re.IGNORECASE)
#: What a standard, a patent or a law cannot do without: plain words in a row are found fast.
_HINTS = re.compile(
    r"ISO|IEC|IEEE|ANSI|ASTM|EN |DIN|BS |GB|JJF|YY/T|HJ|NIST|FIPS|ITU-T|PEP |ECMA|U\.S\.C|USC "
    r"|CFR|C\.F\.R|Regulation|Directive|Decision|patent|Patent|》第|》 第|专利"
)


class Work(NamedTuple):
    """A number with its scheme: two addresses of one paper are one work."""

    scheme: str
    number: str

    @property
    def key(self) -> str:
        return f"{self.scheme}:{self.number.casefold()}"

    @property
    def text(self) -> str:
        """As it is written."""
        return {"rfc": "RFC ", "pmid": "PMID ", "arxiv": "arXiv:"}.get(
            self.scheme, ""
        ) + self.number


#: Numbers as people write them in prose: what cannot be missing, which is found fast, and the form.
_IN_PROSE = (
    ("doi", ("10.",), re.compile(r"10\.\d{4,9}/[^\s<>\"'，。；、（）\[\]{}|]+")),
    (
        "arxiv",
        ("rXiv", "rxiv", "RXIV"),
        re.compile(
            r"ar[xX]iv[:：\s]\s?(\d{4}\.\d{4,5}(?:v\d{1,2})?|[a-z-]{2,20}/\d{7})", re.IGNORECASE
        ),
    ),
    ("rfc", ("RFC", "rfc"), re.compile(r"(?:RFC|rfc)[\s-]?(\d{1,5})\b")),
    ("pmid", ("PMID", "PMCID"), re.compile(r"PMC?ID[:：\s]\s?((?:PMC)?\d{4,9})\b")),
    (
        "trial",
        ("NCT0", "ISRCTN", "ChiCTR"),
        re.compile(r"(?:NCT\d{8}|ISRCTN\d{8}|ChiCTR\d{10}|ChiCTR-[A-Z]{2,4}-\d{8})\b"),
    ),
)
#: Numbers that name a standard or a law as often as they cite one.
_IN_PASSING = re.compile(
    r"(?<![\w/.-])(?:(?P<standard>(?:ISO(?:/IEC|/TS|/IEC/IEEE)?|IEC|IEEE|ANSI|ASTM|EN|DIN|BS"
    r"|GB(?:/T|/Z)?|JJF|YY/T|HJ|NIST SP|FIPS(?: PUB)?|ITU-T|PEP|ECMA)[\s-]?[A-Z]{0,3}\.?"
    r"\d{2,6}(?:[-.:]\d{1,4}){0,3})"
    r"|(?P<patent>(?:US|EP|WO|CN)\s?\d{4,}[\d,/]{2,12}\s?[A-Z]\d?)\b"
    r"|(?P<code>\d{1,3}\s(?:U\.?S\.?C\.?|C\.?F\.?R\.?)\s(?:§{1,2}|[Ss]ection|[Pp]art)?\s?"
    r"\d[\w.()-]{0,20}"
    r"|(?:Regulation|Directive|Decision)\s\(?(?:EU|EC|EEC)?\)?\s?(?:No\.?\s)?\d{2,4}/\d{2,4}))"
    r"|(?P<statute>《[^《》\n]{2,40}(?:法|条例|规定|办法|解释|法典|细则|决定|宪法|规则|准则)(?:（[^）]{1,12}）)?》"
    r"\s?第[一二三四五六七八九十百千零\d]{1,8}条)"
)


def works_in(text: str) -> Iterator[tuple[Work, int, int]]:
    """The works that a text names by number, with their places."""
    for scheme, signs, form in _IN_PROSE:
        if not any(map(text.__contains__, signs)):
            continue
        for found in form.finditer(text):
            before = text[found.start() - 1 : found.start()]
            if (
                not (before.isascii() and (before.isalnum() or before in (".", "/", "_")))
                or not before
            ):
                yield _work(scheme, found[found.lastindex or 0]), found.start(), found.end()


def works_in_passing(text: str) -> Iterator[tuple[Work, int, int]]:
    """The standards, patents and laws that it names, with their places."""
    if _HINTS.search(text):
        for found in _IN_PASSING.finditer(text):
            scheme = found.lastgroup or ""
            yield Work(scheme, " ".join(found[scheme].split())), found.start(), found.end()


def work_of(text: str) -> Work | None:
    """The work that a text is the number of."""
    text = _NAMED.sub("", text)
    for work, start, _ in (*works_in(text), *works_in_passing(text)):
        if start == 0:
            return work
    return None


def _work(scheme: str, number: str) -> Work:
    if scheme == "doi":
        return Work(scheme, _trimmed(number))
    return Work(scheme, re.sub(r"v\d+\Z", "", number) if scheme == "arxiv" else number)


def _trimmed(doi: str) -> str:
    """Without the signs of the sentence and brackets that were opened before it."""
    doi = doi.split("?")[0].split("#")[0].rstrip(".,;:!*_'\"…")
    while doi.endswith((")", "]")) and doi.count("(") < doi.count(")"):
        doi = doi[:-1].rstrip(".,;:!*_'\"")
    return doi


def work_at(address: Address) -> Work | None:
    """The work that an address of a register stands for."""
    host, path = address.host, address.path
    if host in ("doi.org", "dx.doi.org"):
        return Work("doi", _trimmed(path[1:]))
    if host in (
        "arxiv.org",
        "ar5iv.org",
        "ar5iv.labs.arxiv.org",
        "export.arxiv.org",
        "alphaxiv.org",
    ):
        found = _ARXIV_PATH.match(path)
        number = found[1].removesuffix(".pdf") if found else ""
        return Work("arxiv", re.sub(r"v\d+\Z", "", number)) if found else None
    if host in (
        "rfc-editor.org",
        "datatracker.ietf.org",
        "tools.ietf.org",
        "ietf.org",
        "httpwg.org",
    ):
        found = _RFC_PATH.search(path)
        return Work("rfc", found[1]) if found else None
    if host in ("clinicaltrials.gov", "isrctn.com") and (found := _TRIAL_PATH.search(path)):
        return Work("trial", found[0])
    if host == "pubmed.ncbi.nlm.nih.gov" and path[1:].rstrip("/").isdecimal():
        return Work("pmid", path[1:].rstrip("/"))
    return None


def rate_work(work: Work) -> Group:
    """What a number says by itself; nobody has looked it up."""
    scheme, number = work
    if scheme == "doi":
        return _rate_doi(number)
    if scheme == "arxiv":
        return _PREPRINT if _is_arxiv(number) else _MALFORMED
    if scheme == "rfc":
        return _RFC if 0 < int(number) < 10_500 else _MALFORMED
    if scheme == "pmid":
        return _INDEXED
    if scheme == "trial":
        return _TRIAL
    if scheme == "patent":
        return _PATENT
    return _LAW if scheme in ("code", "statute") else _STANDARD


def _is_arxiv(number: str) -> bool:
    """arXiv:2413.00001 names a thirteenth month."""
    found = _ARXIV_ID.match(number)
    if found is None:
        return False
    return found[1] is None or (int(found[1]) >= 7 and 1 <= int(found[2]) <= 12)


def _rate_doi(doi: str) -> Group:
    doi = doi.casefold()
    if not _DOI.match(doi):
        return _MALFORMED
    known = _known()
    for length in _lengths():
        if group := known.get(doi[:length]):
            return group
    return _PLACEHOLDER if _MADE_UP.search(doi) else _PREPRINT if "/arxiv." in doi else _PAPER


@cache
def _known() -> dict[str, Group]:
    return {
        entry.casefold(): group for group, entries in list(groups("works.txt")) for entry in entries
    }


@cache
def _lengths() -> list[int]:
    """The lengths of what is known, longest first."""
    return sorted({len(prefix) for prefix in _known()}, reverse=True)
