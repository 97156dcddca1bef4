"""Edits of a prompt's constraints by rules: add one, remove one, emphasise one.

A rule adds only lines from `PROBLEMS` and the owner's `constraints`, never a text of an agent or a
judge. The judges' reasons are only searched for words that show the kind of problem.
"""

import re
from collections import Counter
from typing import NamedTuple

from fourscore.evolve.mutations.edits import MAX_PARTS, Candidate, EditContext, shorten
from fourscore.evolve.mutations.prompt_text import PromptList, split_sentences

_CONSTRAINT = re.compile(
    r"\b(?:must|never|always|do not|don't|only|avoid|should|ensure|make sure|be sure|at most"
    r"|at least|no more than|required|without|keep)\b"
    r"|必须|不要|禁止|不得|务必|应当|只能|避免|确保|最多|至多|至少|不能|严禁|一律",
    re.IGNORECASE,
)
_STRESSED = re.compile(r"important|重要|\*\*|__", re.IGNORECASE)
STRESS = {"en": "Important: ", "zh": "重要："}
#: The most characters of a constraint; a longer sentence usually makes several demands.
LONGEST = 400


class Constraint(NamedTuple):
    """One sentence or list item that demands something.

    `at` is the index of the item in `list_`, or of the line whose `span` it is.
    """

    text: str
    list_: PromptList | None
    at: int
    span: tuple[int, int] = (0, 0)


def find_constraints(context: EditContext) -> list[Constraint]:
    """Return the constraints of the prompt that may be edited."""
    found = [
        Constraint(item.text, list_, at)
        for list_ in context.outline.lists
        for at, item in enumerate(list_.items)
        if not context.must_keep(list_.marker(at) + item.text)
    ]
    for at in context.outline.prose:
        line = context.outline.lines[at]
        if not context.must_keep(line):
            found += [Constraint(line[a:b], None, at, (a, b)) for a, b in split_sentences(line)]
    short = [one for one in found if len(one.text) <= LONGEST]
    return [one for one in short if _CONSTRAINT.search(one.text) is not None][:MAX_PARTS]


def add_constraint(context: EditContext) -> list[Candidate]:
    """Add a line against the most frequent problem, to the list with the most constraints."""
    words = " ".join(context.parent.lower().split())
    held = Counter(one.list_ for one in find_constraints(context) if one.list_ is not None)
    home = max(held, key=lambda list_: (held[list_], -list_.items[0].start), default=None)
    return [
        Candidate(_with_line(context, home, line), f"{why}: {line}", rank)
        for rank, line, why in _lines(context)
        if " ".join(line.lower().split()) not in words
    ]


def _lines(context: EditContext) -> list[tuple[float, str, str]]:
    """Return (rank, line, why): the owner's lines, then lines against the observed problems."""
    own = [(-float("inf"), line, "a constraint from the settings") for line in context.constraints]
    counted: Counter[str] = Counter()
    for failure in context.failures:
        reasons = failure.reasons.lower()
        counted.update(name for name, (rule, _) in PROBLEMS.items() if rule.search(reasons))
    for place, name in enumerate(PROBLEMS_OF_SIGNAL.get(context.signal, ())):
        counted[name] += max(1, len(context.failures) // (place + 1))
    built_in = [
        (-float(counted[name]) + place / 10, line, f"a line about {name}")
        for name, (_, texts) in PROBLEMS.items()
        for place, line in enumerate(texts[context.language])
    ]
    return own + built_in


def _with_line(context: EditContext, home: PromptList | None, line: str) -> str:
    """Return the prompt with a line at the end of a list, or at its own end."""
    if home is None:
        return context.add_part(line)
    items = [*(item.lines for item in home.items), (line,)]
    return "\n".join(context.outline.replace_list(home, items))


def remove_constraint(context: EditContext) -> list[Candidate]:
    """Remove one constraint, first those that the judges' reasons mention least.

    A constraint with a placeholder stays.
    """
    found: list[Candidate] = []
    for one in find_constraints(context):
        if context.has_placeholder(one.text):
            continue
        why = f"without the constraint: {shorten(one.text)}"
        found.append(Candidate(_removed(context, one), why, context.rate_blame(one.text)))
    return found


def _removed(context: EditContext, one: Constraint) -> str:
    lines = list(context.outline.lines)
    if one.list_ is None:
        start, end = one.span
        rest = lines[one.at][:start] + lines[one.at][end:]
        lines[one.at : one.at + 1] = [rest.rstrip()] if rest.strip() else []
        return "\n".join(lines)
    items = [item.lines for at, item in enumerate(one.list_.items) if at != one.at]
    return "\n".join(context.outline.replace_list(one.list_, items))


def shift_emphasis(context: EditContext) -> list[Candidate]:
    """Move a constraint to the top of its list, or mark it as important.

    Constraints whose words occur most in the judges' reasons are tried first.
    """
    found: list[Candidate] = []
    for one in find_constraints(context):
        blame = -context.rate_blame(one.text)
        if not _STRESSED.search(one.text):
            why = f"marked as important: {shorten(one.text)}"
            found.append(Candidate(_emphasised(context, one), why, blame))
        if one.list_ is not None and one.list_.kind == "bullets" and one.at:
            items = [item.lines for item in one.list_.items]
            moved = [items[one.at], *items[: one.at], *items[one.at + 1 :]]
            why = f"at the top of its list: {shorten(one.text)}"
            text = "\n".join(context.outline.replace_list(one.list_, moved))
            found.append(Candidate(text, why, blame))
    return found


def _emphasised(context: EditContext, one: Constraint) -> str:
    stress = STRESS[context.language]
    if one.list_ is not None:
        items = [item.lines for item in one.list_.items]
        first, *others = items[one.at]
        items[one.at] = (stress + first, *others)
        return "\n".join(context.outline.replace_list(one.list_, items))
    lines = list(context.outline.lines)
    line, start = lines[one.at], one.span[0]
    start += len(line[start:]) - len(line[start:].lstrip())
    lines[one.at] = f"{line[:start]}{stress}{line[start:]}"
    return "\n".join(lines)


#: Kinds of problems: a pattern that finds them in a reason, and lines against them by language.
PROBLEMS: dict[str, tuple[re.Pattern[str], dict[str, tuple[str, ...]]]] = {
    "facts": (
        re.compile(
            r"\b(?:wrong|incorrect|false|untrue|contradict\w*|inaccura\w*)\b|错误|不符|有误"
        ),
        {
            "en": (
                "State only what you know to be true, and check each fact before you give it.",
                "Where you are not sure of a fact, say so.",
            ),
            "zh": ("只写确知属实的内容，给出之前逐条核对。", "对不确定的事实，要明确说明。"),
        },
    ),
    "invention": (
        re.compile(
            r"\b(?:invent\w*|fabricat\w*|hallucinat\w*|unsupported|guess\w*)\b|编造|臆测|虚构"
        ),
        {
            "en": ("Never make anything up; say what is missing instead.",),
            "zh": ("绝不编造；缺什么就说明缺什么。",),
        },
    ),
    "gaps": (
        re.compile(
            r"\b(?:missing|lacks?|omits?|omitted|incomplete|unanswered|left out)\b|缺|遗漏|未答"
        ),
        {
            "en": (
                "Answer every part of the question.",
                "Before you finish, check that nothing that was asked for is missing.",
            ),
            "zh": ("回答问题的每一部分。", "结束之前，检查是否遗漏了所问的内容。"),
        },
    ),
    "citations": (
        re.compile(r"\b(?:citations?|cites?|cited|uncited|references?|quot\w*)\b|引用|出处"),
        {
            "en": (
                "Cite a source for every claim that needs one.",
                "Cite a source only for what it says.",
            ),
            "zh": ("凡需要依据的说法都注明出处。", "只为来源中确有的内容引用该来源。"),
        },
    ),
    "sources": (
        re.compile(r"\b(?:sources?|second-hand|primary|authoritative)\b|来源|一手"),
        {
            "en": ("Prefer primary and authoritative sources.",),
            "zh": ("优先使用权威的一手来源。",),
        },
    ),
    "tools": (
        re.compile(r"\b(?:tools?|calls?|called|repeated|redundant|budget)\b|工具|调用|重复"),
        {
            "en": (
                "Call a tool only when you need its result, and never twice for the same thing.",
                "Check the arguments of a tool before you call it.",
            ),
            "zh": ("只在需要其结果时才调用工具，同一件事不调用两次。", "调用工具之前先检查参数。"),
        },
    ),
    "errors": (
        re.compile(
            r"\b(?:errors?|exceptions?|failed|failures?|retr(?:y|ies)|crash\w*|timeout)\b|报错|失败"
        ),
        {
            "en": (
                "When something fails, find out why before you try again.",
                "Check each result before you go on.",
            ),
            "zh": ("出错时，先查明原因再重试。", "每一步先检查结果再继续。"),
        },
    ),
    "form": (
        re.compile(
            r"\b(?:formats?|formatted|json|headings?|headers?|lists?|structure\w*)\b|格式|结构|标题"
        ),
        {
            "en": (
                "Keep exactly to the form that was asked for.",
                "Structure a long answer with headings and lists.",
            ),
            "zh": ("严格遵守所要求的格式。", "较长的回答要用标题和列表组织。"),
        },
    ),
    "length": (
        re.compile(r"\b(?:long|verbose|wordy|slow|seconds|padding|rambling)\b|冗长|太长|过长|耗时"),
        {
            "en": ("Be brief: leave out what the question does not need.",),
            "zh": ("力求简短，不写问题不需要的内容。",),
        },
    ),
    "numbers": (
        re.compile(
            r"\b(?:units?|numbers?|digits?|decimals?|calculat\w*|sums?|rounding)\b|单位|数字|计算"
        ),
        {
            "en": ("Work out every number step by step, and give its unit.",),
            "zh": ("逐步计算每个数字，并写明单位。",),
        },
    ),
    "answer": (
        re.compile(r"\b(?:final answer|no answer|boxed|direct answer|conclusion)\b|最终答案|结论"),
        {
            "en": ("Give the answer itself first, in one sentence.",),
            "zh": ("先用一句话直接给出答案。",),
        },
    ),
}
#: The problems that a weak signal stands for.
PROBLEMS_OF_SIGNAL = {
    "factual_accuracy": ("facts", "invention", "numbers"),
    "completeness": ("gaps", "answer"),
    "citation_accuracy": ("citations", "sources"),
    "source_quality": ("sources", "citations"),
    "tool_efficiency": ("tools", "length"),
    "tool_success_rate": ("tools", "errors"),
    "output_quality": ("gaps", "answer", "form"),
    "efficiency": ("length", "tools"),
    "error_rate": ("errors", "facts"),
    "structure_score": ("form",),
}
