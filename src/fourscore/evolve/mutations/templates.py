"""Lines that can be added to a prompt without a model, by what went wrong.

They are all that a rule ever adds: nothing an agent or a judge wrote is pasted. A reason is only
looked through for words that say what kind of trouble it is.
"""

import re

#: Kinds of trouble: how a reason speaks of it, and lines against it.
TROUBLES: dict[str, tuple[re.Pattern[str], dict[str, tuple[str, ...]]]] = {
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
#: Where no reason says more, what kind of trouble a signal stands for.
OF_SIGNAL = {
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
