"""Edits of a prompt by rules: reorder or reformat its lists, add an example, change the persona.

Each edit function returns all edited prompts that are possible; the lowest `rank` is the best.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from fourscore.core import Case
from fourscore.core.trace import as_text
from fourscore.evolve.mutations.failures import Failure
from fourscore.evolve.mutations.prompt_text import (
    Outline,
    PromptList,
    find_blocks,
    find_placeholders,
    parse_outline,
    split_sentences,
)
from fourscore.judges.hidden_text import remove_invisible

#: The most parts of a prompt that an edit considers; each part gives a candidate.
MAX_PARTS = 200
_WORD = re.compile(r"[a-zà-ÿ]{4,}|(?=([㐀-鿿]{2}))")
_HAN = re.compile(r"[㐀-鿿]")


class Candidate(NamedTuple):
    """An edited prompt that could be tried; candidates with the lowest `rank` go first."""

    text: str
    why: str
    rank: float = 0.0


class EditContext:
    """A prompt and what went wrong with it.

    `kept` are lines that must stay as they are, `constraints` lines that the owner wants tried.
    """

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
        return parse_outline(self.parent)

    @property
    def language(self) -> Literal["en", "zh"]:
        """The language of the prompt: Chinese from one Chinese character in five words on."""
        found = len(_HAN.findall(self.parent))
        return "zh" if found and found * 5 >= len(self.parent.split()) else "en"

    @cached_property
    def reasons(self) -> Counter[str]:
        """The words of the judges' reasons, each counted once per failure."""
        counted: Counter[str] = Counter()
        for failure in self.failures:
            counted.update(_words(failure.reasons))
        return counted

    def rate_blame(self, text: str) -> float:
        """Return how many failures, on average, name a word of the text in the judges' reasons."""
        words = _words(text)
        return sum(self.reasons[word] for word in words) / len(words) if words else 0.0

    def must_keep(self, text: str) -> bool:
        """Return whether a part of the prompt contains a line that must stay as it is."""
        lines = {line.strip() for line in text.split("\n")}
        return bool(lines & self._kept)

    def add_part(self, part: str) -> str:
        """Return the prompt with one more part at the end, but before a last paragraph that has a
        placeholder, which is usually the question."""
        body = self.parent.rstrip()
        end = self.parent[len(body) :]
        head, gap, tail = body.rpartition("\n\n")
        if gap and self.has_placeholder(tail) and not find_blocks(tail):
            return f"{head.rstrip()}\n\n{part}\n\n{tail}{end}"
        return f"{body}\n\n{part}{end}"

    def has_placeholder(self, text: str) -> bool:
        """Return whether a text has a placeholder or a template block."""
        return bool(find_placeholders(text) or find_blocks(text))


EditFunction = Callable[[EditContext], list[Candidate]]


def _words(text: str) -> set[str]:
    """Return the words of at least four letters, and the pairs of Chinese characters."""
    return {found[1] or found[0] for found in _WORD.finditer(text.lower())}


def shorten(text: str) -> str:
    """Return the beginning of a text on one line, to recognise it by."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"


#: A reference to a step by number or position: the steps of such a prompt are not moved.
_NUMBERED = re.compile(
    r"\b(?:steps?|points?|items?|rules?|no\.)[ \t]{0,4}#?\(?\d|第[ \t]{0,4}[\d一二三四五六七八九十]"
    r"|\b(?:above|below|previous|next|following|former|latter)\b|以上|以下|上述|下述|上一|下一",
    re.IGNORECASE,
)
#: The fewest sentences of a line that is turned into a list.
FEWEST = 3


def reorder_steps(context: EditContext) -> list[Candidate]:
    """Swap two neighbouring steps, or move the last step to the front.

    Steps whose words occur most in the judges' reasons are tried first.
    """
    found: list[Candidate] = []
    if _NUMBERED.search(context.parent):
        return found
    for list_ in context.outline.lists[:MAX_PARTS]:
        text = "\n".join(item.text for item in list_.items)
        if list_.kind != "numbered" or len(list_.items) < 2 or find_blocks(text):
            continue
        if any(
            context.must_keep(list_.marker(at) + item.text) for at, item in enumerate(list_.items)
        ):
            continue
        items = [item.lines for item in list_.items]
        for at in range(1, min(len(items), MAX_PARTS)):
            swapped = [*items[: at - 1], items[at], items[at - 1], *items[at + 1 :]]
            why = f"step {at + 1} goes before step {at}: {shorten(items[at][0])}"
            rank = -context.rate_blame("\n".join(items[at]))
            found.append(
                Candidate("\n".join(context.outline.replace_list(list_, swapped)), why, rank)
            )
        if len(items) > 2:
            moved = [items[-1], *items[:-1]]
            why = f"the last step goes first: {shorten(items[-1][0])}"
            rank = -context.rate_blame("\n".join(items[-1]))
            found.append(
                Candidate("\n".join(context.outline.replace_list(list_, moved)), why, rank)
            )
    return found


def change_format(context: EditContext) -> list[Candidate]:
    """Turn numbers into bullets, bullets into numbers, or several sentences into a list."""
    found: list[Candidate] = []
    has_references = _NUMBERED.search(context.parent) is not None
    for list_ in context.outline.lists[:MAX_PARTS]:
        texts = [list_.marker(at) + item.text for at, item in enumerate(list_.items)]
        if len(list_.items) < 2 or any(map(context.must_keep, texts)):
            continue
        if list_.kind == "numbered" and has_references:
            continue
        other = _change_markers(list_)
        lines = context.outline.replace_list(list_, [item.lines for item in list_.items], other)
        why = f"the list of {len(list_.items)} is {other.kind} now: {shorten(list_.items[0].text)}"
        found.append(Candidate("\n".join(lines), why))
    found += [
        one
        for at in context.outline.prose[:MAX_PARTS]
        if (one := _as_list(context, at)) is not None
    ]
    return found


def _change_markers(list_: PromptList) -> PromptList:
    if list_.kind == "numbered":
        return list_._replace(kind="bullets", sign="-")
    items = tuple(item._replace(number=at) for at, item in enumerate(list_.items, 1))
    return list_._replace(kind="numbered", sign=".", items=items)


def _as_list(context: EditContext, at: int) -> Candidate | None:
    line = context.outline.lines[at]
    spans = split_sentences(line)
    if len(spans) < FEWEST or context.must_keep(line):
        return None
    indent = line[: len(line) - len(line.lstrip())]
    items = [f"{indent}- {line[start:end].strip()}" for start, end in spans]
    lines = [*context.outline.lines[:at], *items, *context.outline.lines[at + 1 :]]
    why = f"line {at + 1} is a list of {len(items)} now: {shorten(line)}"
    return Candidate("\n".join(lines), why)


#: Traits of character that the persona can be given, by the signal that each may help.
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
#: The most characters of an example's question and answer. A longer example is left out, not cut.
LONGEST = 600
_WORDS = {
    "en": ("Example (it shows the form, it is not an order):", "Input: ", "Output: "),
    "zh": ("示例（仅展示形式，不是指令）：", "输入：", "输出："),
}


def adjust_persona(context: EditContext) -> list[Candidate]:
    """Give the persona another trait; add a persona as first line where there is none.

    The trait that goes with the weakest signal is tried first.
    """
    zh = context.language == "zh"
    found: list[Candidate] = []
    for signal, trait in TRAITS.items():
        text = (_with_trait_zh if zh else _with_trait)(context, trait)
        if text is not None and find_placeholders(text) == find_placeholders(context.parent):
            why = f"the agent is {trait}"
            found.append(Candidate(text, why, 0.0 if signal == context.signal else 1.0))
    return found


def _with_trait(context: EditContext, trait: str) -> str | None:
    article = "an" if trait[0] in "aeiou" else "a"
    found = _PERSONA.search(context.parent)
    if found is None:
        line = f"You are {article} {trait} assistant."
        return None if _SOMEBODY.search(context.parent) else f"{line}\n\n{context.parent}"
    rest = context.parent[found.end() :]
    old = _TRAIT.match(rest)
    if _kept(context, found.start()):
        return None
    rest = rest if old is None else rest[old.end() :]
    return f"{context.parent[: found.start()]}{found['who']} {article} {trait} {rest}"


def _with_trait_zh(context: EditContext, trait: str) -> str | None:
    word = f"{TRAITS_ZH[trait]}的"
    found = _PERSONA_ZH.search(context.parent)
    if found is None:
        return (
            None
            if _SOMEBODY.search(context.parent)
            else f"你是一位{word}助手。\n\n{context.parent}"
        )
    rest = context.parent[found.end() :]
    old = _TRAIT_ZH.match(rest)
    if _kept(context, found.start()):
        return None
    rest = rest if old is None else rest[old.end() :]
    return f"{context.parent[: found.end()]}{word}{rest}"


def _kept(context: EditContext, at: int) -> bool:
    """Return whether the line at this offset must stay as it is."""
    start = context.parent.rfind("\n", 0, at) + 1
    return context.must_keep(context.parent[start:].split("\n", 1)[0])


def inject_example(context: EditContext) -> list[Candidate]:
    """Add a case that passed, with its expected answer, as a fenced example at the end."""
    found: list[Candidate] = []
    for case in context.passed[:MAX_PARTS]:
        text = _example(context, case)
        if text is not None:
            why = f"an example from the case {shorten(case.id)}"
            rank = float(len(text) > len(context.parent) // 2)
            found.append(Candidate(context.add_part(text), why, rank))
    return found


def _example(context: EditContext, case: Case) -> str | None:
    asked, wanted = as_text(case.input).strip(), as_text(case.expected).strip()
    if not asked or not wanted or max(len(asked), len(wanted)) > LONGEST:
        return None
    both = f"{asked}\n{wanted}"
    if remove_invisible(both) != both or context.has_placeholder(both) or asked in context.parent:
        return None
    head, question, answer = _WORDS[context.language]
    ticks = "`" * max(3, 1 + max(map(len, re.findall(r"`+", both)), default=0))
    return f"{head}\n{ticks}\n{question}{asked}\n{answer}{wanted}\n{ticks}"
