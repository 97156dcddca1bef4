"""The places that a prompt leaves open: `{name}`, `{{name}}`, `$name`, `${name}`, `<<NAME>>`,
`%(name)s`, and the blocks of templates, `{% if … %}` and `{{#each}}`.

Nobody tells us what fills a prompt in, so whatever looks like such a place is one. A mutation keeps
each of them and adds none; blocks also keep their order.
"""

import re
from string import Formatter

_NAME = r"[^\W\d]\w{0,79}"
_PLACE = re.compile(
    r"(?P<block>\{%[^%\n]{1,200}%\}|\{\{[#/^>&!][^{}\n]{0,80}\}\})"
    rf"|\{{\{{[ \t]{{0,8}}[\w.\-]{{1,80}}(?:[ \t]{{0,8}}\|[^{{}}\n]{{0,80}})?[ \t]{{0,8}}\}}\}}"
    rf"|\$\{{{_NAME}\}}"
    rf"|\{{{_NAME}(?:[.\[][\w.\[\]]{{0,80}})?(?:![rsa])?(?::[^{{}}\n]{{0,40}})?\}}"
    rf"|\${_NAME}"
    r"|<<[ \t]{0,8}\w[\w\-]{0,79}[ \t]{0,8}>>"
    r"|%\(\w{1,80}\)[sdrfi]"
)


def places(text: str) -> frozenset[str]:
    """Those that are filled in, as they are written."""
    return frozenset(found[0] for found in _PLACE.finditer(text) if not found["block"])


def blocks(text: str) -> tuple[str, ...]:
    """Those that frame a part of the text, in order."""
    return tuple(found[0] for found in _PLACE.finditer(text) if found["block"])


def wrong_places(parent: str, text: str, own: tuple[str, ...] = ()) -> str | None:
    """What is wrong with the places of a text. `own` are others that its owner has named."""
    had, has = places(parent), places(text)
    lost = sorted((had - has) | {one for one in own if one in parent and one not in text})
    if lost:
        return f"the placeholder {lost[0]} is gone"
    if has - had:
        return f"the placeholder {min(has - had)} is new: nothing would fill it in"
    if blocks(parent) != blocks(text):
        return "the blocks of the template are not those of the parent"
    fields = _fields(parent)
    if fields and _fields(text) != fields:
        return "a brace is new: the prompt could no longer be filled in"
    return None


def _fields(text: str) -> frozenset[str] | None:
    """The fields of a text that `str.format` can fill in; None where it cannot."""
    try:
        names = {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    except ValueError:
        return None
    heads = {re.split(r"[.\[]", name, maxsplit=1)[0] for name in names}
    return frozenset(names) if all(head.isidentifier() for head in heads) else None
