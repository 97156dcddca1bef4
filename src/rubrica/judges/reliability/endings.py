"""What the ending of a host says, where registries give it to nobody else: .gov, .int, .ac.uk."""

from functools import cache

from rubrica.judges.reliability.address import Address
from rubrica.judges.reliability.lexicon import words
from rubrica.judges.reliability.listing import Group, groups

_GOVERNMENT = Group("primary", "", "a government body, by its ending")
_MILITARY = Group("primary", "", "a military body, by its ending")
_TREATY = Group("primary", "", "an international organisation, by its ending")
_UNIVERSITY = Group("primary", "", "a university or research institute, by its ending")
_PERSONAL = Group("unreliable", "", "a personal page at a university")
_TEACHING = Group("secondary", "", "teaching material or news of a university")

_PERSON_PATHS = ("/~", "/%7e", "/people/", "/students/", "/users/", "/user/", "/student/", "/home/")
_LESSON_PATHS = ("/news", "/courses/", "/course/", "/class", "/lecture", "/magazine", "/stories/")


@cache
def _states() -> dict[str, list[str]]:
    return {group.kind: countries for group, countries in list(groups("states.txt"))}


def by_ending(address: Address) -> Group | None:
    """The group of a host whose ending is given to one sort of owner only."""
    labels = address.labels
    top, second = labels[-1], labels[-2]
    if top == "gov":
        return _GOVERNMENT
    if top == "mil":
        return _MILITARY
    if top == "int":
        return _TREATY
    if top == "edu":
        return _university(address, labels[:-2])
    if len(top) != 2 or len(labels) < 2:
        return None
    if second in ("gov", "mil") and top not in words("sold"):
        return _GOVERNMENT
    if top in _states().get(second, ()):
        return _GOVERNMENT
    if second in ("ac", "edu") and len(labels) > 2 and top not in words("sold"):
        return _university(address, labels[:-3])
    return None


def _university(address: Address, below: list[str]) -> Group:
    path = address.path.casefold()
    if not words("persons").isdisjoint(below) or any(part in path for part in _PERSON_PATHS):
        return _PERSONAL
    if not words("lessons").isdisjoint(below) or path.startswith(_LESSON_PATHS):
        return _TEACHING
    return _UNIVERSITY
