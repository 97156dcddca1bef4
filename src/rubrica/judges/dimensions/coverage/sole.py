"""Whether an answer gives the one thing that was asked.

It may do so in a word (`Lima`, `**330 m**`, a list of names), in code, or in sentences that keep to
the subject. What says no more than the question, or speaks of something else, does not.
"""

import re
from collections.abc import Sequence

from rubrica.judges.dimensions.coverage.plan import Plan
from rubrica.judges.dimensions.coverage.reading import Cover, Read
from rubrica.judges.dimensions.coverage.units import carries_on

#: From which score an answer gives what was asked, where it keeps to the subject and elsewhere.
_ASKED, _ASKED_ELSEWHERE = 0.2, 0.35
#: New words without which nothing is said: one Chinese character is half a word.
_NEW = 0.5
#: From which nearness the words of an answer are akin to those of the question.
_AKIN = 0.6
#: Words and signs of a bare answer, and signs of one that shares a character with the question.
_WORDS, _SIGNS, _NEAR = 4, 16, 60
#: How one begins that says where, when or why, and how many words it has.
_PLACED = re.compile(
    r"\W*(?:in|on|at|between|near|from|by|under|around|since|until|after|before|because|due to"
    r"|within|every|during) "
)
_LONGER = 8
#: New words that a text has of which nobody can tell whether it keeps to an unknown subject.
_MUCH = 6.0
#: The same of one that begins with `it`.
_SOME = 3.0
#: The answer to a choice has no new word: `the Sun` is one of two.
_CHOICE = re.compile(r"\bor\b|还是|或")
#: Questions for a figure, which a short statement gives in words of its own.
_HOW_MUCH = re.compile(
    r"\bhow (?:many|much|long|old|tall|high|far|often|big|large|fast|deep|wide|heavy)\b"
    r"|多少|几[个人次年天名]|多[长高大远久重深宽快]",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_CODE = re.compile(
    r"\b(?:code|functions?|scripts?|programs?|query|sql|regex|class|method|snippet|command|python"
    r"|java|javascript|typescript|rust|bash|html|css|json|yaml|dockerfile|algorithm|c\+\+)(?!\w)"
    r"|代码|函数|脚本|程序|命令|语句|算法|正则",
    re.IGNORECASE,
)
_LOOKS_CODED = re.compile(r"\n|\w\(|\w ?[-+:]?= ?\w|[;{}]")
#: Orders for works whose words are their own.
_ART = re.compile(
    r"\b(?:write|tell|compose|give|make|create|sing)\b.{0,40}\b(?:poem|haiku|limerick|joke|riddle|pun"
    r"|slogan|tagline|lyrics|song|story)s?\b"
    r"|[写作编讲说来唱].{0,8}(?:诗|歌|笑话|谜语|口号|故事|对联)",
    re.IGNORECASE,
)
#: A statement about a thing of its own, `bananas are yellow`, where `it is yellow` is about ours.
_STATES = re.compile(
    r"\W*(?!(?:it|that|this|these|those|they|he|she|i|we|you|there|one|both|(?:the )?answer)\b)"
    r"(?:[\w'’-]+ ){1,3}?(?:is|are|was|were|has|have|had|can|will)\b(?=\W*\w)"
    r"|\W*(?![它他她这那其我你您此没不]|可能|应该|大概|也许|答案|当然)[\u4e00-\u9fff]{2,6}?[是有会能]"
    r"(?=[\u4e00-\u9fff])"
)


def only(said: Sequence[Read], plan: Plan) -> Cover | None:
    """Where the one thing asked is given."""
    if not said or not _has_news(said, plan):
        return None
    best = max(said, key=lambda read: read.told.speech.value(0))
    if any(read.labelled for read in said) or _is_given(said, best.told.speech.value(0), plan):
        return Cover(best.passage.start, best.passage.end, "low")
    return None


def _has_news(said: Sequence[Read], plan: Plan) -> bool:
    """Whether it says more than the question does; not every question asks for that."""
    if any(read.told.fresh >= _NEW for read in said) or plan.aspects[0].yes_no:
        return True
    if not plan.aspects[0].derived:
        return False
    return plan.works or _CHOICE.search(plan.question) is not None


def _is_given(said: Sequence[Read], value: float, plan: Plan) -> bool:
    topical = any(plan.touches(read.told.said) for read in said)
    if value >= (_ASKED if topical else _ASKED_ELSEWHERE):
        return True
    if all(is_bare(read) for read in said):
        return True
    lowers = [read.told.said.lower for read in said]
    if sum(map(len, lowers)) <= _NEAR and plan.nears(lowers[0]):
        return True
    if not plan.aspects[0].derived:
        return False
    if len(said) == 1 and len(lowers[0]) <= _NEAR and _is_figure(lowers[0], plan):
        return True
    if len(said) > 1 and all(read.told.speech.hits(0) for read in said):
        return True  # steps for `how`, names for `who`
    return _is_made(said, plan) or _refers_back(said) or _is_akin(said, plan)


def _is_figure(lower: str, plan: Plan) -> bool:
    return _DIGIT.search(lower) is not None and _HOW_MUCH.search(plan.question) is not None


def is_bare(read: Read) -> bool:
    """A name, a number, a few words, and no statement about something else."""
    lower = read.told.said.lower
    if len(lower) > _SIGNS:
        words = len(lower.split()) if lower.isascii() else _LONGER + 1
        if words > _LONGER or (words > _WORDS and not _PLACED.match(lower)):
            return False
    return not _STATES.match(lower)


def _is_made(said: Sequence[Read], plan: Plan) -> bool:
    """A poem or a block of code where one is wanted, a text that was to be turned into another."""
    if plan.works or _ART.search(plan.question):
        return True
    code = any(_LOOKS_CODED.search(read.passage.text) for read in said)
    return code and _CODE.search(plan.question) is not None


def _refers_back(said: Sequence[Read]) -> bool:
    """`It is how plants make sugar`; where somebody asks where to look, being sent there."""
    if said[0].told.said.kind:
        return True
    if not carries_on(said[0].told.said.lower):
        return False
    if said[0].told.speech.asks(0):
        return any(read.told.speech.hits(0) for read in said)
    return sum(read.told.fresh for read in said) >= _SOME


def _is_akin(said: Sequence[Read], plan: Plan) -> bool:
    """Whether its words are near to those of the question, if anything is known of these."""
    if plan.kinship.is_unknown:
        much = sum(read.told.fresh for read in said) >= _MUCH
        return much and not _STATES.match(said[0].told.said.lower)
    return max(plan.kinship.near(read.told.said.words)[0] for read in said) >= _AKIN
