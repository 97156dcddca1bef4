"""The eight kinds of mutation: how risky each is, which signals it answers, what is to be done.

A strategy answers a signal when such a change can plausibly move it. Names that are in none of the
lists, such as the dimensions of a rubric of one's own, are answered by whatever has fared best.
"""

from typing import get_args

import msgspec

from fourscore.core import ConfigError
from fourscore.core.errors import suggest_known
from fourscore.evolve.limits import Risk

RISKS: tuple[Risk, ...] = get_args(Risk)


class Strategy(msgspec.Struct, frozen=True):
    """`en` and `zh` say what is done, to people and to a model alike."""

    name: str
    risk: Risk
    answers: tuple[str, ...]
    en: str
    zh: str


STRATEGIES = {
    one.name: one
    for one in (
        Strategy(
            "instruction_rephrase",
            "medium",
            ("output_quality", "tool_success_rate", "completeness", "factual_accuracy"),
            "Say the instructions that were misunderstood in clearer and more concrete words. "
            "Add no demand and drop none.",
            "用更清楚、更具体的话重述被误解的指令。不增加要求，也不删去要求。",
        ),
        Strategy(
            "step_reorder",
            "low",
            ("tool_efficiency", "tool_success_rate", "efficiency", "completeness"),
            "Put the steps into a better order. Keep the words of every step.",
            "调整步骤的顺序，每一步的文字保持不变。",
        ),
        Strategy(
            "constraint_add",
            "medium",
            (
                "factual_accuracy",
                "completeness",
                "citation_accuracy",
                "source_quality",
                "tool_efficiency",
                "error_rate",
                "output_quality",
            ),
            "Add one short constraint that would have prevented most of these failures. "
            "It has to hold for every task, not for these cases alone.",
            "增加一条简短的约束，能避免其中大多数失败。它必须适用于所有任务，而不只是这些例子。",
        ),
        Strategy(
            "constraint_remove",
            "high",
            ("efficiency", "tool_efficiency", "output_quality"),
            "Remove the one constraint that does more harm than good. Leave all else as it is.",
            "删去一条弊大于利的约束，其余保持不变。",
        ),
        Strategy(
            "example_inject",
            "medium",
            ("structure_score", "output_quality", "citation_accuracy", "tool_success_rate"),
            "Add one short example of a task done well. Make it up, or take it from the cases that "
            "went well; never from a failure.",
            "增加一个完成得好的简短示例。可以自拟，也可以取自成功的例子，但绝不能取自失败的例子。",
        ),
        Strategy(
            "emphasis_shift",
            "low",
            ("citation_accuracy", "source_quality", "error_rate", "factual_accuracy"),
            "Give more weight to the demand that was violated most: move it up, or mark it as "
            "important. Add no demand and drop none.",
            "突出最常被违反的要求：把它前移，或标明其重要。不增加要求，也不删去要求。",
        ),
        Strategy(
            "format_change",
            "low",
            ("structure_score", "completeness"),
            "Change the form of the prompt, such as prose into a list, and keep what it says.",
            "改变提示词的形式，例如把段落改成列表，内容保持不变。",
        ),
        Strategy(
            "persona_adjust",
            "high",
            ("output_quality", "source_quality", "factual_accuracy", "efficiency"),
            "Change who the prompt says the agent is, so that its strengths meet these failures. "
            "Leave everything else as it is.",
            "调整提示词对智能体身份的描述，使其长处针对这些失败。其余保持不变。",
        ),
    )
}


def allowed(names: tuple[str, ...], most: Risk) -> tuple[Strategy, ...]:
    """The strategies of these names, or all, up to a risk."""
    for name in names:
        if name not in STRATEGIES:
            raise ConfigError(f"{name!r}: {suggest_known(name, STRATEGIES)}", field="strategies")
    if most not in RISKS:
        raise ConfigError(f"{most!r} is none of {', '.join(RISKS)}", field="most_risk")
    high = RISKS.index(most)
    return tuple(
        one
        for one in STRATEGIES.values()
        if (not names or one.name in names) and RISKS.index(one.risk) <= high
    )
