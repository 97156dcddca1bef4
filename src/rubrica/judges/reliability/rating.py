"""The rating of one source: primary, secondary or unreliable, why, and how sure that is.

In this order: a configuration's own lists, numbers of works, what hides its host, the shipped list,
endings such as .gov, shared hosts, the site of somebody the question names. A host that none of
them knows is unreliable: invented institutes have fine names, and nothing here opens a page.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, NamedTuple

from rubrica.judges.reliability.address import Address, address_of
from rubrica.judges.reliability.endings import by_ending
from rubrica.judges.reliability.lexicon import words
from rubrica.judges.reliability.listing import Group, Kind, Lists, look_up, own, shipped
from rubrica.judges.reliability.question import About
from rubrica.judges.reliability.shared import on_shared_host, without_suffix
from rubrica.judges.reliability.topic import is_off_topic
from rubrica.judges.reliability.works import Work, rate_work, work_at, work_of

Sure = Literal["high", "medium", "low"]
NOTHING = About()
NO_LISTS = Lists()


class Rated(NamedTuple):
    """What a source is, by its address alone."""

    kind: Kind
    reason: str
    sure: Sure
    settled: bool = False  # by whoever wrote case or configuration, or by an address that deceives


_ARCHIVED = re.compile(r"/(?:web/)?\d{4,14}[a-z_]{0,4}/(https?:/{1,2}.+)", re.IGNORECASE)
_DEEP_DOI = re.compile(
    r"/(?:doi|article|articles|chapter|abs)/(?:[a-z]{2,10}/)?(10\.\d{4,9}/[^/?#]+)"
)
_SOBER_PATH = re.compile(
    r"/(?:docs?|support|help|manuals?|investors?|ir|specs?|legal|security|terms|privacy)(?:/|\Z)"
)
_OFFICIAL = re.compile(
    r"gov|official|ministry|minist|bureau|authorit|institute|national|state|edu|univ|who\b"
)


def classify(
    source: str, about: About = NOTHING, answer: str = "", lists: Lists = NO_LISTS
) -> Rated:
    """Rate an address or a number such as `doi:10.1000/x`, `arXiv:1706.03762` or `RFC 9110`.

    `about` is the question; `answer` the prose of the answer, without its addresses.
    """
    rated = _whatever(source, about, lists)
    return _rated(source, about, lambda: answer, lists) if rated is None else rated


@lru_cache(maxsize=1024)
def _whatever(source: str, about: About, lists: Lists) -> Rated | None:
    """The rating where it is the same whatever the answer says, as it mostly is."""
    asked: list[bool] = []

    def answer() -> str:
        asked.append(True)
        return ""

    rated = _rated(source, about, answer, lists)
    return None if asked else rated


def _rated(source: str, about: About, answer: Callable[[], str], lists: Lists) -> Rated:
    work, address = _read(source)
    group = _listed(source, address, lists)
    if group is not None:
        return Rated(_kind(group), group.reason, "high", settled=True)
    if work is not None:
        return _weighed(rate_work(work), about, answer, address or Address("", ""))
    assert address is not None
    if address.trouble:
        return Rated("unreliable", address.trouble, "high", settled=True)
    if inner := _archived(address):
        return _rated(inner, about, answer, lists)
    return _by_host(address, about, answer)


@lru_cache(maxsize=512)
def _read(source: str) -> tuple[Work | None, Address | None]:
    source = source.strip()
    if "://" not in source[:24] and (work := work_of(source)):
        return work, None
    address = address_of(source)
    return (None if address.trouble else work_at(address)), address


def identity(source: str) -> str:
    """What two ways to the same document share; empty where only the address tells."""
    work, address = _read(source)
    if work is None and address is not None and (found := _DEEP_DOI.search(address.path)):
        work = Work("doi", found[1])
    return work.key if work else ""


@lru_cache(maxsize=512)
def host_of(source: str) -> str:
    """The registered name that an address stands under; empty for numbers."""
    work, address = _read(source)
    return "" if work or address is None or address.trouble else address.owner


def _listed(source: str, address: Address | None, lists: Lists) -> Group | None:
    if lists == NO_LISTS:
        return None
    if address is not None and address.host:
        return look_up(own(lists), address.host, address.path)  # also intranet and localhost
    # Numbers can be listed too: a retracted DOI, say.
    plain = re.sub(r"\A(?:doi|arxiv)[:：]?\s?", "", source.strip().casefold())
    host, slash, path = plain.partition("/")
    return look_up(own(lists), host, slash + path)


def _archived(address: Address) -> str:
    """The page that an archive keeps: the archive vouches for nothing but its age."""
    if address.host not in ("web.archive.org", "archive.org"):
        return ""
    found = _ARCHIVED.match(address.path)
    return found[1].replace(":/", "://", 1).replace(":///", "://", 1) if found else ""


def _by_host(address: Address, about: About, answer: Callable[[], str]) -> Rated:
    asked = _is_asked_for(address, about)
    if asked:
        return Rated("primary", "the question asks for what was written there", "medium")
    group = _known(address)
    group = on_shared_host(address, about, answer) or group
    if group is None:
        return _unknown(address, about)
    return _weighed(group, about, answer, address)


@lru_cache(maxsize=512)
def _known(address: Address) -> Group | None:
    """The group by the shipped list, or by the ending of the host."""
    group = look_up(shipped(), address.host, address.path)
    ending = by_ending(address)
    return ending if ending and (group is None or ending.kind == "unreliable") else group


def _is_asked_for(address: Address, about: About) -> bool:
    host = address.host
    return any(host == place or host.endswith(f".{place}") for place in about.posts)


def _weighed(group: Group, about: About, answer: Callable[[], str], address: Address) -> Rated:
    """The group's kind, unless the question makes it another one."""
    if group.kind == "maker":
        return _maker(group, about, address)
    if group.kind == "wire":
        if about.weighs:
            return Rated("unreliable", f"{group.reason}: the maker praises itself", "medium")
        if about.deeds:
            return Rated("primary", f"{group.reason}, for the company's own announcement", "low")
        return Rated("secondary", group.reason, "low")
    lone = group.field and about.text and not _names_host(address, about)
    if lone and is_off_topic(group.field, about.text, answer):
        return Rated("unreliable", f"{group.reason}, but off the topic", "medium")
    return Rated(_kind(group), group.reason, "high")


def _maker(group: Group, about: About, address: Address) -> Rated:
    sober = not words("sober").isdisjoint(address.labels) or _SOBER_PATH.search(
        address.path.casefold()
    )
    if about.weighs and not sober:
        return Rated("unreliable", "the maker about its own goods", "medium")
    return Rated("primary", f"{group.reason}, about itself", "medium")


def _names_host(address: Address, about: About) -> bool:
    return any(label in about.words for label in address.labels[:-1] if len(label) > 2)


def _unknown(address: Address, about: About) -> Rated:
    owner = address.owner
    name, _, ending = owner.partition(".")
    plain = ending.rpartition(".")[2] in words("ordinary-endings")
    if plain and _is_named(name.replace("-", ""), about):
        return _maker(
            Group("maker", "", f"the site of {name}, by its name"), about, address
        )._replace(sure="low")
    if (
        plain
        and "-" not in name
        and not {"docs", "developer", "developers"}.isdisjoint(address.labels)
    ):
        return Rated("secondary", "a manual on an unknown host", "low")
    below = address.host.removesuffix(owner).rstrip(".")
    if below and (look_up(shipped(), below, "") or by_ending(Address(f"x.{below}", ""))):
        return Rated("unreliable", f"looks like {below} but belongs to {owner}", "high")
    if _OFFICIAL.search(address.host):
        return Rated("unreliable", f"sounds official, but {owner} is an unknown host", "medium")
    return Rated("unreliable", f"unknown host {owner}", "low")


def _is_named(name: str, about: About) -> bool:
    """Whether a registered name is one that the question uses: nvidia.com, expressjs.com."""
    bare = (name, without_suffix(name), name.removeprefix("get"), name.removeprefix("use"))
    return any(len(each) > 2 and each in about.names for each in bare)


def _kind(group: Group) -> Kind:
    return (
        "primary"
        if group.kind == "primary"
        else "secondary"
        if group.kind == "secondary"
        else "unreliable"
    )
