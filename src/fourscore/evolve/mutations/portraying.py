"""Operators that say who the agent is, and show it a task done well."""

import re

from fourscore.core import Case
from fourscore.core.trace import as_text
from fourscore.evolve.mutations.placeholders import places
from fourscore.evolve.mutations.situation import MOST, Candidate, Situation, shown
from fourscore.evolve.mutations.templates import TRAITS, TRAITS_ZH
from fourscore.judges.hidden_text import remove_invisible

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
