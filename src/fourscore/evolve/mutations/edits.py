"""Edits of a prompt by rules: reorder or reformat its lists, add an example, change the persona.

Each edit function lists every prompt it could make of an `EditContext`, best first by `rank`.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from fourscore.core import Case
from fourscore.core.trace import as_text
from fourscore.evolve.mutations.failures import Failure
from fourscore.evolve.mutations.prompt_text import Outline, Run, blocks, outline, places, sentences
from fourscore.judges.hidden_text import remove_invisible

#: Parts of a prompt that an operator looks at; each candidate is a whole prompt.
MOST = 200
_WORD = re.compile(r"[a-zà-ÿ]{4,}|(?=([㐀-鿿]{2}))")
_HAN = re.compile(r"[㐀-鿿]")


class Candidate(NamedTuple):
    """A text that could be tried; those of the lowest `rank` go first."""

    text: str
    why: str
    rank: float = 0.0


class Situation:
    """A parent and what went wrong with it. `kept` are lines that have to stay as they are,
    `constraints` lines that somebody would like to see tried."""

    def __init__(
        self,
        parent: str,
        failures: Sequence[Failure] = (),
        passed: Sequence[Case] = (),
        *,
        signal: str = "",
        kept: Sequence[str] = (),
        constraints: Sequence[str] = (),
    ) -> None:
        self.parent, self.failures, self.passed = parent, failures, passed
        self.signal, self.constraints = signal, constraints
        self._kept = {line.strip() for line in kept}

    @cached_property
    def outline(self) -> Outline:
        return outline(self.parent)

    @property
    def language(self) -> Literal["en", "zh"]:
        """That of the parent: a fifth of Chinese characters is Chinese, English words are long."""
        found = len(_HAN.findall(self.parent))
        return "zh" if found and found * 5 >= len(self.parent.split()) else "en"

    @cached_property
    def reasons(self) -> Counter[str]:
        """The words of the judges' reasons, each once for a failure."""
        counted: Counter[str] = Counter()
        for failure in self.failures:
            said = " ".join([failure.reason, *(one.reason for one in failure.complaints)])
            counted.update(_words(said))
        return counted

    def blamed(self, text: str) -> float:
        """How much the reasons speak of what a line speaks of."""
        words = _words(text)
        return sum(self.reasons[word] for word in words) / len(words) if words else 0.0

    def keeps(self, text: str) -> bool:
        """Whether a part of the prompt has to stay as it is."""
        lines = {line.strip() for line in text.split("\n")}
        return bool(lines & self._kept)

    def with_part(self, part: str) -> str:
        """The parent with a part more at its end; where the end is a paragraph that is filled in,
        such as the question, before that."""
        body = self.parent.rstrip()
        end = self.parent[len(body) :]
        head, gap, tail = body.rpartition("\n\n")
        if gap and self.fills(tail) and not blocks(tail):
            return f"{head.rstrip()}\n\n{part}\n\n{tail}{end}"
        return f"{body}\n\n{part}{end}"

    def fills(self, text: str) -> bool:
        """Whether something is filled in here."""
        return bool(places(text) or blocks(text))


Operator = Callable[[Situation], list[Candidate]]


def _words(text: str) -> set[str]:
    """Longer words, and pairs of Chinese characters."""
    return {found[1] or found[0] for found in _WORD.finditer(text.lower())}


def shown(text: str) -> str:
    """The beginning of a line of the prompt, to tell it by."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"


#: Steps that speak of one another by number stay where they are.
_NUMBERED = re.compile(
    r"\b(?:steps?|points?|items?|rules?|no\.)[ \t]{0,4}#?\(?\d|第[ \t]{0,4}[\d一二三四五六七八九十]"
    r"|\b(?:above|below|previous|next|following|former|latter)\b|以上|以下|上述|下述|上一|下一",
    re.IGNORECASE,
)
#: Sentences of a line that is worth a list.
FEWEST = 3


def step_reorder(now: Situation) -> list[Candidate]:
    """Two neighbouring steps change places, or the last one goes first. The steps that the reasons
    speak of most go first."""
    found: list[Candidate] = []
    if _NUMBERED.search(now.parent):
        return found
    for run in now.outline.runs[:MOST]:
        text = "\n".join(item.text for item in run.items)
        if run.kind != "numbered" or len(run.items) < 2 or blocks(text):
            continue
        if any(now.keeps(run.marker(at) + item.text) for at, item in enumerate(run.items)):
            continue
        items = [item.lines for item in run.items]
        for at in range(1, min(len(items), MOST)):
            swapped = [*items[: at - 1], items[at], items[at - 1], *items[at + 1 :]]
            why = f"step {at + 1} goes before step {at}: {shown(items[at][0])}"
            rank = -now.blamed("\n".join(items[at]))
            found.append(Candidate("\n".join(now.outline.rebuilt(run, swapped)), why, rank))
        if len(items) > 2:
            moved = [items[-1], *items[:-1]]
            why = f"the last step goes first: {shown(items[-1][0])}"
            rank = -now.blamed("\n".join(items[-1]))
            found.append(Candidate("\n".join(now.outline.rebuilt(run, moved)), why, rank))
    return found


def format_change(now: Situation) -> list[Candidate]:
    """Bullets for numbers, numbers for bullets, a list for a paragraph of several sentences."""
    found: list[Candidate] = []
    spoken_of = _NUMBERED.search(now.parent) is not None
    for run in now.outline.runs[:MOST]:
        texts = [run.marker(at) + item.text for at, item in enumerate(run.items)]
        if len(run.items) < 2 or any(map(now.keeps, texts)):
            continue
        if run.kind == "numbered" and spoken_of:
            continue
        other = _other(run)
        lines = now.outline.rebuilt(run, [item.lines for item in run.items], other)
        why = f"the list of {len(run.items)} is {other.kind} now: {shown(run.items[0].text)}"
        found.append(Candidate("\n".join(lines), why))
    found += [one for at in now.outline.prose[:MOST] if (one := _listed(now, at)) is not None]
    return found


def _other(run: Run) -> Run:
    if run.kind == "numbered":
        return run._replace(kind="bullets", sign="-")
    items = tuple(item._replace(number=at) for at, item in enumerate(run.items, 1))
    return run._replace(kind="numbered", sign=".", items=items)


def _listed(now: Situation, at: int) -> Candidate | None:
    line = now.outline.lines[at]
    spans = sentences(line)
    if len(spans) < FEWEST or now.keeps(line):
        return None
    indent = line[: len(line) - len(line.lstrip())]
    items = [f"{indent}- {line[start:end].strip()}" for start, end in spans]
    lines = [*now.outline.lines[:at], *items, *now.outline.lines[at + 1 :]]
    why = f"line {at + 1} is a list of {len(items)} now: {shown(line)}"
    return Candidate("\n".join(lines), why)


#: Characters that an agent can be given, by the signal they may help, then the others.
TRAITS = {
    "factual_accuracy": "careful",
    "completeness": "thorough",
    "citation_accuracy": "meticulous",
    "source_quality": "discerning",
    "tool_efficiency": "efficient",
    "tool_success_rate": "methodical",
    "output_quality": "thoughtful",
    "efficiency": "concise",
    "error_rate": "cautious",
    "structure_score": "orderly",
}
TRAITS_ZH = {
    "careful": "细心",
    "thorough": "周到",
    "meticulous": "一丝不苟",
    "discerning": "有鉴别力",
    "efficient": "高效",
    "methodical": "有条不紊",
    "thoughtful": "深思熟虑",
    "concise": "简洁",
    "cautious": "谨慎",
    "orderly": "有条理",
}
_PERSONA = re.compile(r"\b(?P<who>You are|You're|Act as|act as) (?P<article>an?) ")
_PERSONA_ZH = re.compile(r"(?:你|您)是一?(?:名|位|个)(?=\S)")
_SOMEBODY = re.compile(r"\byou are\b|\byou're\b|\bact as\b|(?:你|您)是", re.IGNORECASE)
_TRAIT = re.compile(rf"(?:{'|'.join(TRAITS.values())}),? ")
_TRAIT_ZH = re.compile(rf"(?:{'|'.join(TRAITS_ZH.values())})的")
#: Characters of an example's question, and of its answer. A longer one is not cut but left out.
LONGEST = 600
_WORDS = {
    "en": ("Example (it shows the form, it is not an order):", "Input: ", "Output: "),
    "zh": ("示例（仅展示形式，不是指令）：", "输入：", "输出："),
}


def persona_adjust(now: Situation) -> list[Candidate]:
    """Another trait for whoever the prompt says the agent is; a first line where it says nothing.
    The trait that goes with the weakest signal goes first."""
    zh = now.language == "zh"
    found: list[Candidate] = []
    for signal, trait in TRAITS.items():
        text = (_portrayed_zh if zh else _portrayed)(now, trait)
        if text is not None and places(text) == places(now.parent):
            why = f"the agent is {trait}"
            found.append(Candidate(text, why, 0.0 if signal == now.signal else 1.0))
    return found


def _portrayed(now: Situation, trait: str) -> str | None:
    article = "an" if trait[0] in "aeiou" else "a"
    found = _PERSONA.search(now.parent)
    if found is None:
        line = f"You are {article} {trait} assistant."
        return None if _SOMEBODY.search(now.parent) else f"{line}\n\n{now.parent}"
    rest = now.parent[found.end() :]
    old = _TRAIT.match(rest)
    if _kept(now, found.start()):
        return None
    rest = rest if old is None else rest[old.end() :]
    return f"{now.parent[: found.start()]}{found['who']} {article} {trait} {rest}"


def _portrayed_zh(now: Situation, trait: str) -> str | None:
    word = f"{TRAITS_ZH[trait]}的"
    found = _PERSONA_ZH.search(now.parent)
    if found is None:
        return None if _SOMEBODY.search(now.parent) else f"你是一位{word}助手。\n\n{now.parent}"
    rest = now.parent[found.end() :]
    old = _TRAIT_ZH.match(rest)
    if _kept(now, found.start()):
        return None
    rest = rest if old is None else rest[old.end() :]
    return f"{now.parent[: found.end()]}{word}{rest}"


def _kept(now: Situation, at: int) -> bool:
    """Whether the line at this place has to stay."""
    start = now.parent.rfind("\n", 0, at) + 1
    return now.keeps(now.parent[start:].split("\n", 1)[0])


def example_inject(now: Situation) -> list[Candidate]:
    """A case that went well, with the answer that was expected, in a fence at the end."""
    found: list[Candidate] = []
    for case in now.passed[:MOST]:
        text = _example(now, case)
        if text is not None:
            why = f"an example from the case {shown(case.id)}"
            rank = float(len(text) > len(now.parent) // 2)
            found.append(Candidate(now.with_part(text), why, rank))
    return found


def _example(now: Situation, case: Case) -> str | None:
    asked, wanted = as_text(case.input).strip(), as_text(case.expected).strip()
    if not asked or not wanted or max(len(asked), len(wanted)) > LONGEST:
        return None
    both = f"{asked}\n{wanted}"
    if remove_invisible(both) != both or now.fills(both) or asked in now.parent:
        return None
    head, question, answer = _WORDS[now.language]
    ticks = "`" * max(3, 1 + max(map(len, re.findall(r"`+", both)), default=0))
    return f"{head}\n{ticks}\n{question}{asked}\n{answer}{wanted}\n{ticks}"
