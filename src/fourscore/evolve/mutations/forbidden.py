"""What a prompt may not come to say: that it speaks to a judge, shows a fence, a key or what nobody
sees, or leads to an address that was not there.

A rule is a regular expression. What the parent already says as often is its owner's business.
The shipped ones take time in proportion to the text; those of one's own run on texts whose length
was checked before.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from fourscore.core import ConfigError
from fourscore.judges.hidden_text import INVISIBLE

#: What is wrong, and how it is found.
SHIPPED: Mapping[str, re.Pattern[str]] = {
    "it has characters that nobody sees": INVISIBLE,
    "it speaks to a judge": re.compile(
        r"\b(?:judges?|graders?|evaluators?|scorers?|autograders?|raters?|reward models?)\b"
        r"|裁判|评委|评审|评判者|评估者|评分者|评分员|评分模型",
        re.IGNORECASE,
    ),
    "it asks for a score": re.compile(
        r"\b(?:scores?|scoring|grading|ratings?|rubrics?|pass_threshold)\b"
        r"|\b(?:full|top|highest|maximum|perfect|best)[ \t]{1,4}(?:marks?|grades?|points)\b"
        r"|\b(?:verdict|reward)s?\b"
        r"|评分|打分|得分|高分|满分|分数",
        re.IGNORECASE,
    ),
    "it shows a fence or the marks of a conversation": re.compile(
        r"\[/?[0-9a-f]{12}\b|<\|[^|<>\n]{0,40}\|>|\[/?INST\]|</?s>|<</?SYS>>"
        r"|^[ \t]{0,8}(?:system|assistant|user|human)[ \t]{0,4}:[ \t]*$",
        re.IGNORECASE | re.MULTILINE,
    ),
    "it has what looks like a key": re.compile(
        r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16}"
        r"|\bgh[opsur]_[A-Za-z0-9]{20}|\bgithub_pat_\w{20}|\bglpat-[\w-]{16}|\bhf_[A-Za-z0-9]{20}"
        r"|\bA(?:KIA|SIA)[A-Z0-9]{12}|\bAIza[\w-]{30}|\bxox[abeoprs]-[A-Za-z0-9-]{10}"
        r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY|\beyJ[\w-]{10,200}\.[\w-]{10}"
        r"|\b(?:api[_-]?key|password|passwd|secret|access[_-]?token)\b"
        r"[ \t]{0,4}[=:][ \t]{0,4}\S{8}",
        re.IGNORECASE,
    ),
    "it leads to an address that was not there": re.compile(
        r"\b(?:https?|ftp|wss?)://[^\s<>\"'()\[\]]{1,200}|\bdata:[a-z]{1,20}/[^\s,]{1,60}",
        re.IGNORECASE,
    ),
}


def compiled(own: Sequence[str]) -> dict[str, re.Pattern[str]]:
    """Rules of one's own."""
    rules: dict[str, re.Pattern[str]] = {}
    for place, text in enumerate(own):
        try:
            rules[f"it is forbidden by {text!r}"] = re.compile(text)
        except re.error as error:
            message = f"not a regular expression: {error}"
            raise ConfigError(message, field=f"forbidden[{place}]") from None
    return rules


def forbidden(parent: str, text: str, rules: Mapping[str, re.Pattern[str]]) -> str | None:
    """The first rule that is broken and the line. What was found is not told: it may be a key."""
    for what, rule in rules.items():
        had = Counter(found[0].lower() for found in rule.finditer(parent))
        for found in rule.finditer(text):
            word = found[0].lower()
            had[word] -= 1
            if had[word] < 0:
                line = text.count("\n", 0, found.start()) + 1
                return f"line {line}: {what}"
    return None
