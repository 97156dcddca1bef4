"""Citation accuracy by a model: does this source bear out this sentence?

Everything else is for the rules to see: where a citation leads, whether quoted words stand in the
source, what is flawed in form, what is taken from a source and not cited.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from rubrica.core import Case, Evidence, Signal, Trace, Usage
from rubrica.judges.citing.mark import Mark, distinct
from rubrica.judges.citing.sources import Source
from rubrica.judges.citing.statements import is_bare
from rubrica.judges.dimensions.citations import NAME, Cited, check_worth, cited_in, signal_of
from rubrica.judges.dimensions.finding import MOST
from rubrica.judges.prompted.asker import Asker, Verdict, together
from rubrica.judges.prompted.several import paid, sure_of
from rubrica.judges.prompted.sourced import name_of

CHOICES = ("unsupported", "partly", "supported")
#: Citations that are asked about; statements before one, and characters of them, that are shown.
ASKED, BEFORE, CONTEXT = 50, 2, 1000
#: Statements that a citation at none of them may be meant for.
LOOSE = 100
#: What has to be borne out, and by what.
Key = tuple[str, Source]
_UNFOUND = "what the model quotes is not in the source"


class CitationAccuracy(Asker, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean over the citations, as by rules; what a source supports is the model's to say."""

    flawed: float = 0.8
    partial: float = 0.5
    missing: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_worth(self)

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.versions("citation")

    def most(self, case: Case) -> Usage:
        return self.ceiling("citation", case, ASKED, own=3 * (self.max_chars + CONTEXT))

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        cited = cited_in(case, trace)
        loose = _loose(cited)
        whole = "\n".join(cited.reading.statements[number].text for number in loose)
        pairs = [(mark, _key(mark, cited, whole)) for mark in cited.marks]
        first = {key: mark for mark, key in reversed(pairs) if key is not None}
        asked = list(dict.fromkeys(key for _, key in pairs if key is not None))[:ASKED]
        verdicts = await together([self._borne_out(case, key, first[key], cited) for key in asked])
        known = dict(zip(asked, verdicts, strict=True))
        marks = [
            mark if key is None or key not in known else _marked(mark, known[key], cited, loose)
            for mark, key in pairs
        ]
        unfound = sum(_is_unfound(verdict) for verdict in verdicts)
        sure = sure_of(verdicts, unfound) if verdicts else None
        signal = signal_of(cited, distinct(marks), self, sure)
        if len(first) > ASKED:
            note = f"the model was asked about the first {ASKED} citations; {signal.reason}"
            signal = replace(signal, reason=note)
        quoted = [one.evidence for one in verdicts if one.evidence is not None]
        evidence = tuple(dict.fromkeys((*signal.evidence, *quoted)))[:MOST]
        return (paid(replace(signal, evidence=evidence), verdicts),)

    async def _borne_out(self, case: Case, key: Key, mark: Mark, cited: Cited) -> Verdict:
        statement, source = key
        material = self.material(
            case,
            "",
            source=_shown(source),
            context=_context(mark, cited),
            statement=statement,
        )
        name = name_of(source, list(cited.sources).index(source))
        return await self.decide("citation", material, CHOICES, text=source.text, field=name)


def _shown(source: Source) -> str:
    """A source with its title, which may name what the text calls `it`."""
    return f"{source.title}\n\n{source.text}" if source.title else source.text


def _is_loose(mark: Mark, cited: Cited) -> bool:
    """Whether it stands at no statement."""
    return mark.sentence < 0 or is_bare(cited.reading.statements[mark.sentence])


def _loose(cited: Cited) -> list[int]:
    """The statements without a citation, for which one at the end may be meant."""
    taken = {mark.sentence for mark in cited.marks}
    taken |= {use.sentence for use in cited.reading.plain_uses}
    statements = enumerate(cited.reading.statements[:LOOSE])
    return [number for number, one in statements if not is_bare(one) and number not in taken]


def _key(mark: Mark, cited: Cited, whole: str) -> Key | None:
    """What has to be borne out by which source; nothing where the rules have settled it.

    `whole` are the statements without a citation, for which one that stands at none may be meant.
    """
    if mark.settled or mark.source is None:
        return None
    statement = whole if _is_loose(mark, cited) else mark.claim
    return (statement, mark.source) if statement.strip() else None


def _context(mark: Mark, cited: Cited) -> str:
    """The sentence itself and what stands before it."""
    if _is_loose(mark, cited):
        return ""
    before = cited.reading.statements[max(0, mark.sentence - BEFORE) : mark.sentence + 1]
    return " ".join(one.text for one in before)[-CONTEXT:]


def _is_unfound(verdict: Verdict) -> bool:
    return verdict.choice != "unsupported" and verdict.evidence is None


def _marked(mark: Mark, verdict: Verdict, cited: Cited, loose: Sequence[int]) -> Mark:
    """The mark by the model's verdict."""
    mark = replace(mark, weak=False)
    at_none = _is_loose(mark, cited)
    if _is_unfound(verdict):
        return replace(mark, verdict="unsupported", why=_UNFOUND)
    if verdict.choice == "unsupported":
        if mark.covers and not at_none:
            return mark  # it is meant for an earlier sentence, which is half right
        return replace(mark, verdict="unsupported", why=_why(verdict))
    if at_none:
        return _meant_for_all(mark, verdict, cited, loose)
    if verdict.choice == "partly":
        return replace(mark, verdict="partial", why=_why(verdict))
    return replace(mark, verdict="flawed" if mark.flaw else "right", why=mark.flaw)


def _meant_for_all(mark: Mark, verdict: Verdict, cited: Cited, loose: Sequence[int]) -> Mark:
    """Right where it is the only one and bears all of them out; else nobody can tell."""
    if verdict.choice == "partly":
        why = "it stands at no statement, and bears out a part of them"
        return replace(mark, verdict="partial", why=why)
    mark = replace(mark, covers=tuple(loose))
    if len(cited.marks) == 1:
        return replace(mark, verdict="flawed" if mark.flaw else "right", why=mark.flaw)
    why = "it stands at no statement: the reader cannot tell what it supports"
    return replace(mark, verdict="partial", why=why)


def _why(verdict: Verdict) -> str:
    """What the source says instead, in its own words."""
    piece: Evidence | None = verdict.evidence
    if piece is None:
        return "the source does not speak of it"
    said = " ".join(piece.text.split())
    return f"the source says '{said if len(said) <= 80 else said[:77] + '...'}'"
