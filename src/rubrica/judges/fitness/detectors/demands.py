"""What a request says of the form of its answer, as a list of checks."""

import re
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

from rubrica.judges.fitness.detectors import shapes as shape
from rubrica.judges.fitness.detectors.amounts import Amount, amounts, number_of, number_pattern
from rubrica.judges.fitness.detectors.lists import sections
from rubrica.judges.fitness.detectors.plain import CHOICES, PLAIN
from rubrica.judges.fitness.detectors.tongues import wanted

#: Characters of a request that are read.
_LONGEST = 4_000
QUOTE = (
    r"(?:\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|「[^」\n]{1,80}」"
    r"|'[^'\n]{1,80}'(?!\w)|`[^`\n]{1,80}`|‘[^’\n]{1,80}’)"
)
_QUOTED = re.compile(QUOTE)
_AND = re.compile(r",\s*and |, | and |、|，|,|和| và ")


class Demand(NamedTuple):
    """One thing that a request asks of the form, and whether an output keeps it."""

    name: str
    kept: Callable[[str], bool]


@cache
def asks(name: str) -> re.Pattern[str]:
    """The expression of one section of the list."""
    lines = sections("forms")[name]
    text = "|".join(f"(?:{line})" for line in lines)
    n = number_pattern()
    parts = text.split("{n}")
    text = parts[0] + "".join(f"(?P<n{i}>{n}){part}" for i, part in enumerate(parts[1:]))
    parts = text.split("{q}")
    text = parts[0] + "".join(f"(?P<q{i}>{QUOTE}){part}" for i, part in enumerate(parts[1:]))
    return re.compile(text, re.IGNORECASE | re.MULTILINE)


def demands(request: str) -> list[Demand]:
    """The demands of a request, in no order; none where it does not speak of the form."""
    request = request[:_LONGEST]
    bare = _QUOTED.sub(" _ ", request)
    said = {name for name in sections("forms") if asks(name).search(bare)}
    found = [*_data(request, bare, said), *_lists(bare, said), *_words(request, said)]
    found += [Demand(name, PLAIN[name]) for name in PLAIN if name in said]
    found += [Demand(a.asked, partial(shape.amount, a)) for a in _amounts(bare, said)]
    tongue = wanted(bare)
    if tongue:
        only = (
            re.search(r"\bonly\b|只用|chỉ (?:bằng|dùng|trả lời bằng)", bare, re.IGNORECASE)
            is not None
        )
        found.append(Demand(tongue, partial(shape.tongue, tongue, only)))
    return found + _answers(request, bare, said)


def _amounts(bare: str, said: set[str]) -> list[Amount]:
    found = amounts(bare)
    return [a for a in found if not (a.unit == "bullets" and said & {"bullets", "numbered"})]


def _data(request: str, bare: str, said: set[str]) -> list[Demand]:
    found = []
    only = "only" in said
    block = "block" in said and "no_markdown" not in said
    for kind in ("json", "yaml", "toml", "csv", "xml"):
        if kind not in said or asks("asking").search(bare) or asks("program").search(bare):
            continue
        alone = only and not block
        found.append(
            Demand(kind, partial(shape.data, kind, alone, only, _wants(kind, request, said)))
        )
    if (
        "block" in said
        and "no_markdown" not in said
        and "no_code" not in said
        and not asks("asking").match(bare)
    ):
        hit = asks("block_of").search(request)
        label = next((g for g in hit.groups() if g), "") if hit else ""
        found.append(Demand("block", partial(shape.fenced, label.lower())))
    if (
        "only_code" in said
        or ("only" in said and re.search(r"\bcode\b|代码|\bmã\b", bare, re.IGNORECASE))
    ) and "no_code" not in said:
        found.append(Demand("only code", shape.only_code))
    return found


def _wants(kind: str, request: str, said: set[str]) -> shape.Wants:
    keys: tuple[str, ...] = ()
    if "keys" in said:
        hit = asks("keys").search(request)
        keys = tuple(q[1:-1] for q in _QUOTED.findall(request[hit.start() if hit else 0 :]))
    if not keys and (hit := asks("named_keys").search(request)):
        keys = tuple(_AND.split(next(g for g in hit.groups() if g)))
    return shape.Wants(
        keys, "array" in said, "object" in said, kind == "csv" and "header_row" in said
    )


def _lists(bare: str, said: set[str]) -> list[Demand]:
    found = []
    numbered = "numbered" in said and "no_numbers" not in said
    bullets = "bullets" in said and "no_list" not in said
    if numbered or bullets:
        found.append(Demand("list", partial(shape.listed, numbered)))
        wanted_items = [a for a in amounts(bare) if a.unit == "bullets"]
        hit = asks("count").search(bare)
        if wanted_items:
            found.append(Demand(wanted_items[0].asked, partial(shape.items, wanted_items[0])))
        elif hit:
            n = number_of(next(v for k, v in hit.groupdict().items() if v and k[0] == "n"))
            found.append(
                Demand(hit.group(), partial(shape.items, Amount("items", n, n, hit.group())))
            )
    elif hit := asks("exact").search(bare):
        n = number_of(hit.group("n0"))
        found.append(Demand(hit.group(), partial(shape.exactly, n)))
    separators = {"comma": ",，、", "semicolon": ";；", "pipe": "|", "tab": "\t"}
    for name, signs in separators.items():
        if name in said:
            found.append(Demand(name, partial(shape.separated, signs)))
    if (numbered or bullets) and "only" in said:
        found.append(Demand("only the list", shape.only_items))
    if "table" in said and not asks("database").search(bare):
        found.append(Demand("table", shape.only_table if "only" in said else shape.has_table))
    return found


def _words(request: str, said: set[str]) -> list[Demand]:
    """Demands that name a text: how to begin and end, what to use and what not, which sections."""
    found = []
    checks = {
        "starts": shape.starts,
        "ends": shape.ends,
        "without": shape.lacks,
        "contains": shape.contains,
    }
    for name, check in checks.items():
        hit = asks(name).search(request)
        if hit and not (name == "contains" and asks("without").search(request)):
            text = next(v for k, v in hit.groupdict().items() if v and k[0] == "q")[1:-1]
            found.append(Demand(f"{name} {text}", partial(check, text)))
    if word := asks("bare_word").search(request):
        found.append(Demand(word.group(), partial(shape.lacks, word.group(1))))
    titles = _QUOTED.findall(request)
    if "sections" in said and len(titles) > 1:
        names = tuple(title[1:-1] for title in titles)
        found.append(Demand("sections", partial(shape.sectioned, names)))
    elif hit := asks("names").search(request):
        names = tuple(
            n.strip() for n in _AND.split(next(g for g in hit.groups() if g)) if n.strip()
        )
        found.append(Demand("sections", partial(shape.sectioned, names)))
    if pair := asks("pair").search(request):
        found.append(Demand(pair.group(), partial(shape.paired, pair.group(1).strip())))
    if tag := asks("tag").search(request):
        found.append(Demand(tag.group(), partial(shape.tagged, tag.group(1))))
    return found


def _answers(request: str, bare: str, said: set[str]) -> list[Demand]:
    """Demands that leave a choice of words: yes or no, true or false, a number."""
    found: list[Demand] = []
    strict = "only" in said or bool(re.search(r"\bone word\b|một từ", bare, re.IGNORECASE))
    found += [
        Demand(name, partial(check, strict))
        for name, check in CHOICES.items()
        if asks(name).search(request)
    ]
    if "number" in said:
        found.append(Demand("number", shape.is_number))
    if hit := asks("decimals").search(bare):
        n = number_of(next(v for k, v in hit.groupdict().items() if v and k[0] == "n"))
        found.append(Demand(hit.group(), partial(shape.decimals, n)))
    return found
