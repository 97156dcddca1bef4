"""Detect answers without content: empty, punctuation or chat tokens only, or only an opening.

A model that is asked whether ":" or "Let's think step by step." answers the question says yes far
too often ("One Token to Fool LLM-as-a-Judge", 2025). So such answers fail without asking a model.
"""

import re

from fourscore.core import Case
from fourscore.core.trace import as_text
from fourscore.judges.chat_tokens import CHAT_TOKEN
from fourscore.judges.hidden_text import remove_invisible
from fourscore.judges.reader.text import MAX_READ

#: A longer answer has content, even if it is wrong.
MAX_EMPTY = 120
_WORD = re.compile(r"[^\W_]+")
_NOUN = (
    r"(?:final |my |the |short |correct |detailed )*(?:answer|solution|response|result|reasoning"
    r"|thought process|thinking(?: process)?|thoughts?|explanation|analysis|conclusion|output"
    r"|proof|step 1|steps?|reply|verdict|evaluation)"
)
_OPENER = re.compile(
    rf"(?:(?:here(?: is|'s)|this is) )?{_NOUN}(?: (?:is|follows|below|as follows))*"
    r"|(?:sure|okay|ok|certainly|of course|absolutely|great question|good question|well|so|hmm)"
    r"(?: (?:here you go|let me help(?: you)?(?: with that)?))?"
    r"|(?:okay |ok |alright |sure |so |well |now |first )*"
    r"(?:let's|let us|let me|i will|i'll|we will|we'll|we can|i need to|we need to) "
    r"(?:now |first |carefully |try to )*"
    r"(?:solve|think|analy[sz]e|answer|break|work|start|begin|see|consider|look|reason|go|approach)"
    r"(?: (?:this|that|it|the|down|through|about|at|on|out|with|into|by|problem|question|task"
    r"|step|carefully|together|now|here|given|in|detail|we|have|what|over|to|one|a|time))*"
    r"|think|step by step|to (?:solve|answer) (?:this|the) (?:problem|question|task)"
    r"|解|答|解答|答案|解析|解答如下|答案如下|回答|分析|思考|思考过程|推理|推理过程|结论|好的|当然|过程|步骤"
    r"|让我们(?:一步一步|一步步)?(?:来|地)?(?:思考|分析|解决)?(?:这个)?(?:问题|题目)?"
    r"|我们(?:来)?(?:一步一步|一步步)(?:地)?(?:思考|分析|解决)(?:这个)?(?:问题|题目)?"
    r"|かいせつ|解説|回答|答え|lösung|antwort|respuesta|solución|réponse|solution|risposta"
    r"|resposta|ответ|решение|trả lời|lời giải|đáp án",
    re.IGNORECASE,
)


def explain_empty_answer(case: Case, answer: str) -> str | None:
    """Return why an answer has no content, or None if it has some.

    An answer that the case itself expects is accepted, whatever it looks like.
    """
    text = remove_invisible(answer.strip()[:MAX_READ]).strip()
    if not text:
        return "the answer is empty"
    if len(text) > MAX_EMPTY or text.casefold() == _reference(case):
        return None
    words = CHAT_TOKEN.sub(" ", text)
    if not _WORD.search(words):
        return f"the answer is only {text!r}"
    # An apostrophe belongs to its word; all other punctuation is removed.
    plain = " ".join(re.findall(r"[^\W_]+(?:'[^\W_]+)?", words.replace("\u2019", "'")))
    return f"the answer is only an opening: {text!r}" if _OPENER.fullmatch(plain) else None


def _reference(case: Case) -> str:
    expected = case.expected
    if isinstance(expected, dict):
        expected = expected.get("answer")
    return as_text(expected).strip().casefold() if expected is not None else ""
