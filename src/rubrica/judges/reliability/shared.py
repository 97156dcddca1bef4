"""Places on shared hosts: a project's own repository or manual, or just anybody's page."""

import re
from collections.abc import Callable

from rubrica.judges.reliability.address import Address
from rubrica.judges.reliability.lexicon import words
from rubrica.judges.reliability.listing import Group, look_up, shipped
from rubrica.judges.reliability.question import About

_REPOSITORY = Group("primary", "", "the repository of the project that is asked about")
_MANUAL = Group("primary", "", "the manual of the project, on a shared host")
_KNOWN_MANUAL = Group("primary", "software", "the manual of a known project, on a shared host")
_THREAD = Group("secondary", "software", "a discussion in the project's repository")
_FORK = Group("secondary", "software", "named like the project, but perhaps a fork")
_LOOSE_MANUAL = Group("secondary", "software", "a manual that the question does not ask about")
_STRANGER = Group("unreliable", "", "a stranger's repository")
_PAGE = Group("unreliable", "", "a personal page on a shared host")

_TALK = re.compile(r"/(?:issues?|discussions?|pulls?|merge_requests)(?:/|\Z)")
_NOTES = re.compile(
    r"(?:\A|[-_.])(?:notes?|awesome|blog|tutorials?|learn(?:ing)?|study|cheat-?sheets?|interview|demo|examples?"
    r"|course|truth|facts|wiki|guide|collection|list|笔记|教程)(?:\Z|[-_.])"
)


def on_shared_host(address: Address, about: About, answer: Callable[[], str]) -> Group | None:
    """The rating of a place on a shared host; None for hosts that are not shared."""
    host = address.host
    if host in words("forges"):
        return _repository(host, address.path.casefold(), about)
    name, _, rest = host.partition(".")
    if rest in ("github.io", "gitlab.io", "gitee.io"):
        forge = f"{rest.removesuffix('.io')}.com"
        if _named(name, about):
            return _MANUAL
        return _KNOWN_MANUAL if look_up(shipped(), forge, f"/{name}") else _PAGE
    if rest in ("readthedocs.io", "readthedocs.org", "gitbook.io", "rtfd.io"):
        return _manual(name, rest, about, answer)
    return None


def _repository(host: str, path: str, about: About) -> Group:
    owner, _, rest = path.strip("/").partition("/")
    repository = rest.partition("/")[0]
    known = look_up(shipped(), host.replace("raw.githubusercontent", "github"), path)
    if known is not None or (_named(owner, about) and not _NOTES.search(repository)):
        return _THREAD if _TALK.search(path) else known or _REPOSITORY
    if not repository or not _named(repository, about) or _NOTES.search(repository):
        return _STRANGER
    same = without_suffix(owner) == without_suffix(repository)
    return _FORK if not same else _THREAD if _TALK.search(path) else _REPOSITORY


def _manual(name: str, rest: str, about: About, answer: Callable[[], str]) -> Group:
    """Read the Docs is for manuals; the answer's prose may name the project, gitbook's may not."""
    if _named(name, about):
        return _MANUAL
    if rest != "gitbook.io" and re.search(
        rf"(?<![\w.-]){re.escape(name)}(?![\w-])", answer(), re.IGNORECASE
    ):
        return _MANUAL
    return _LOOSE_MANUAL


def _named(name: str, about: About) -> bool:
    """Whether the question has this name as a word, also without what projects put behind it."""
    return _is_word(name, about) or _is_word(without_suffix(name), about)


def without_suffix(name: str) -> str:
    """A registered name as people say it: jq for jqlang, deepseek for deepseek-ai."""
    for end in words("behind"):
        if name.endswith(end) and len(name) > len(end) + 1:
            return name.removesuffix(end).rstrip("-")
    return name


def _is_word(name: str, about: About) -> bool:
    plain = "".join(filter(str.isalnum, name))
    return len(plain) > 1 and (name in about.words or plain in about.names)
