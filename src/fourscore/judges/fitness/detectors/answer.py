"""Detect by its wording whether an output answers, explains, and names next steps.

Works for English and Chinese. A refusal is searched in the first sentences, where models put it.
Whether an answer is right is not checked here.
"""

import re

from fourscore.judges.fitness.detectors.markdown import read_markdown
from fourscore.judges.hidden_text import remove_invisible
from fourscore.judges.reader.text import read_text, split_words

#: Characters and sentences at the beginning in which a refusal is searched.
OPENING, OPENING_SENTENCES = 300, 2
#: Characters of prose in which an explanation and next steps are searched.
PROSE = 40_000

#: The assistant says that it cannot, will not or may not.
_REFUSAL = re.compile(
    r"\b(?:i|we)(?:'m| am| are)? (?:\w+ ){0,2}?(?:can(?:'t|not| not)|won't|will not|couldn't"
    r"|could not|unable to|(?:decline|refuse) to|not (?:able|advocating|allowed|authori[sz]ed"
    r"|capable|comfortable|condoning|designed|going|here|permitted|programmed)) (?!help but)\w"
    r"|\bi (?:\w+ )?(?:do not|don't) (?:\w+ )?(?:believe|condone|encourage|endorse|engage"
    r"|have (?:access|any|enough|information|opinions|personal|real|the)|hold|promote|support)\b"
    r"|\bi (?:must|have to|need to|want to|would like to) (?:\w+ )?(?:advise|clarify|decline"
    r"|emphasi[sz]e|inform|point out|refuse|remind|stress)\b"
    r"|\bi (?:strongly )?(?:apologi[sz]e,? but|condemn|decline|disagree|refuse)\b"
    r"|\bsorry(?:,| but)|\bi(?:'m| am) afraid\b|\bmy (?:guidelines|policy|programming|training)\b"
    r"|我们?(?:\w{0,4})(?:无法|不能|不可以|没办法|没法|不便|拒绝|不支持)|抱歉|对不起|很遗憾",
    re.IGNORECASE,
)
#: A judgement of the request instead of an answer to it, unless a judgement was asked for.
_REBUKE = re.compile(
    r"\b(?:not|never) (?:[\w-]+,? ){0,3}?(?:acceptable|appropriate|condoned|encouraged|ethical"
    r"|healthy|justified|legal|okay|productive|the answer|tolerated|a good (?:idea|thing)"
    r"|(?:accurate|fair) (?:or \w+ )?to)\b"
    r"|(?:\b(?:is|are|was|were|be)|'s) (?!the )(?:[\w-]+,? ){0,3}?(?:illegal|immoral|inappropriate"
    r"|unacceptable|unethical|unlawful|wrong to)\b"
    r"|\bthere is no (?:\w+ )?(?:excuse|justification|reason)\b"
    r"|(?:是|属于)(?:违法|非法|不道德|不合适|不恰当|不可接受)",
    re.IGNORECASE,
)
_ASKS_JUDGEMENT = re.compile(r"(?i)(?:is|are|was|do|does|should|may)\b|.{0,200}(?:legal\b|吗[?？])")
#: The beginning of a sentence that only announces, asks for patience, or closes.
_EMPTY = re.compile(
    r"(?:(?:certainly|great|hello|hi|of course|okay|so|sure|thanks|well)\b[^.!?]{0,30}?[,!.]? ?)?"
    r"(?:$|let(?: me|'s| us)\b|(?:first,? )?(?:i|we)(?:'ll| will| need to| understand)\b"
    r"|please (?:wait|hold on)\b|(?:a|one) (?:moment|second)\b|it depends\b|feel free\b)"
    r"|好的|当然|没问题|让我|我(?:来|会|将|马上|先)|请稍|正在|希望|取决于|看情况",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"\n]*+\"|“[^“”\n]*+”")

_REASON = re.compile(
    r"\b(?:because|therefore|thus|hence|due to|as a result|so that|in order to|(?:the|a) reason"
    r"|(?:this|that|which) (?:means|ensures|allows|makes|is why|prevents|avoids)|works by"
    r"|for (?:example|instance)|in other words|otherwise|since (?!you asked|\d))\b|, so\b"
    r"|因为|由于|所以|因此|因而|从而|原因|这意味着|也就是说|换句话说|例如|比如|否则|以便",
    re.IGNORECASE,
)
_ASKS_REASON = re.compile(r"(?i)(?:why|how (?:do|does|is|are)|explain)\b|.{0,99}(?:为什么|原理)")
_STEP = re.compile(
    r"\b(?:next steps?|follow[- ]?ups?|(?:i|we)(?:'d| would)? (?:also )?(?:recommend|suggest)"
    r"|recommendations?|you (?:can|could|may|might|should)|you'll (?:need|want) to|would you like"
    r"|if you(?:'d)? (?:like|need|want|prefer)|do you want me|to (?:verify|confirm))\b"
    r"|^[ \t>*+\d.)-]*(?:(?:then|next|finally|now|please),? )?(?:add|check|consider|deploy|install"
    r"|make sure|monitor|remember|restart|review|run|test|try|update|verify)\b"
    r"|下一步|接下来|后续|建议|可以(?:再|进一步|考虑|尝试)|[您你]可以|如需|如果[您你]?(?:需要|想)"
    r"|记得|请先|请(?:运行|检查|确认)",
    re.IGNORECASE,
)


def has_direct_answer(output: str, request: str = "") -> bool:
    """Whether the output answers, right or wrong, and does not only refuse, rebuke or announce.

    "It is illegal" is a rebuke, unless the request asked for a judgement ("is it legal?").
    """
    text = remove_invisible(output[:PROSE]).replace("’", "'").strip()
    sentences = read_text(text[:OPENING]).sentences
    if not sentences or not split_words(text):
        return False
    opening = _QUOTED.sub("_", text[: sentences[:OPENING_SENTENCES][-1].end])
    is_rebuke = _REBUKE.search(opening) and not _ASKS_JUDGEMENT.match(request.lstrip())
    if is_rebuke or _REFUSAL.search(opening):
        return False
    # Questions to the user are no answer either.
    return len(text) > OPENING or not all(
        sentence.text.endswith(("?", "？")) or _EMPTY.match(sentence.text) for sentence in sentences
    )


def has_explanation(output: str, request: str = "") -> bool:
    """Whether the output gives a reason or explains how something works, beyond the bare answer.

    Signs are a connective ("because") among other words, prose beside a block of code, or an answer
    of at least 12 words to a question for a reason.
    """
    document = read_markdown(output)
    words = split_words(document.prose[:PROSE])
    if len(words) >= 12 and document.fences:
        return True
    if len(words) >= 12 and _ASKS_REASON.match(request.lstrip()):
        return has_direct_answer(output, request)
    return len(set(words)) >= 8 and _REASON.search(document.prose[:PROSE]) is not None


def has_next_steps(output: str) -> bool:
    """Whether a sentence after the first offers or recommends something to do."""
    sentences = read_text(read_markdown(output).prose[:PROSE]).sentences
    return any(_STEP.search(sentence.text) for sentence in sentences[1:])
