"""Source quality by a model: what is this source for this question?

What the case or the configuration says of a source is not asked, nor is an address that hides its
host. As by rules, a source that neither the case nor a tool gave may be invented and earns little.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from rubrica.core import Case, Signal, Trace, Usage
from rubrica.core.trace import as_text
from rubrica.judges.citing.sources import Source
from rubrica.judges.dimensions.sources import (
    NAME,
    check_hosts,
    rate,
    read_sources,
    signal_of,
    weighed,
)
from rubrica.judges.prompted.asker import Asker, Verdict, together
from rubrica.judges.prompted.quoting import located
from rubrica.judges.prompted.several import each, paid, sure_of
from rubrica.judges.reliability.cited import Cited
from rubrica.judges.reliability.listing import Lists
from rubrica.judges.reliability.rating import Rated

CHOICES = ("unreliable", "secondary", "primary")
#: Sources that are asked about, and characters of a text that are shown, and of any other line.
ASKED, TEXT, LINE = 50, 1000, 500
_LINES = {
    "en": {"as": "Cited as", "url": "Address", "title": "Title", "author": "By", "text": "Text"},
    "zh": {"as": "引用为", "url": "网址", "title": "标题", "author": "作者", "text": "正文"},
}


class SourceQuality(Asker, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean over the distinct sources cited: primary 1, secondary 0.3, unreliable 0."""

    primary: tuple[str, ...] = ()
    secondary: tuple[str, ...] = ()
    unreliable: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_hosts(self.lists)

    @property
    def lists(self) -> Lists:
        return Lists(self.primary, self.secondary, self.unreliable)

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.versions("source")

    def most(self, case: Case) -> Usage:
        return self.ceiling("source", case, ASKED)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        seen = read_sources(case, trace)
        by_rules = partial(rate, seen=seen, lists=self.lists)
        known = seen.known
        first = {cited.key: cited for cited in reversed(seen.reading.cited)}
        shown: dict[str, str] = {}
        for key in dict.fromkeys(cited.key for cited in seen.reading.cited):
            source = first[key].source or known.get(key)
            if not by_rules(first[key], source).settled:
                shown[key] = self._described(first[key], source)
        asked = list(shown)[:ASKED]
        own = {"question": as_text(case.input)}
        materials = each(self, own, "source", [shown[key] for key in asked])
        verdicts = await together([self.decide("source", one, CHOICES) for one in materials])
        found = dict(zip(asked, verdicts, strict=True))

        def by_model(cited: Cited, source: Source | None) -> Rated:
            plain = by_rules(cited, source)
            known = found.get(cited.key)
            return plain if known is None else _rated(known, shown[cited.key], plain)

        signal = signal_of(seen, weighed(seen, by_model))
        if len(shown) > ASKED:
            note = f"the model was asked about the first {ASKED} sources; {signal.reason}"
            signal = replace(signal, reason=note)
        return (paid(signal, verdicts) if verdicts else signal,)

    def _described(self, cited: Cited, source: Source | None) -> str:
        """What is known of a source, one thing to a line."""
        words = _LINES[self.language]
        if source is None:
            return f"{words['as']}: {cited.target[:LINE]}"
        lines = {
            "url": source.url or (cited.target if cited.form == "address" else ""),
            "title": source.title or ("" if source.url else cited.target or source.id),
            "author": " ".join(filter(None, (source.author, source.year))),
        }
        told = [f"{words[name]}: {text[:LINE]}" for name, text in lines.items() if text]
        told += [f"{words['text']}: {source.text[:TEXT]}"] if source.text.strip() else []
        return "\n".join(told)


def _rated(verdict: Verdict, shown: str, plain: Rated) -> Rated:
    """By the model, where it goes by words that are there; else as the rules say."""
    if located(verdict.said, shown, "source") is None:
        return plain._replace(reason=f"{plain.reason}; the model quotes nothing of it", sure="low")
    by = " ".join(verdict.said[:80].split())
    kind: str = verdict.choice
    why = f"the model, by '{by}'" if by.isprintable() else "the model"
    return Rated(kind, why, sure_of([verdict]))  # type: ignore[arg-type]
