"""Extract the answer from an output: outside the thinking, inside the last box or tag.

Every function takes time linear in the text and never recurses: a policy in training will sooner
or later write a hundred thousand open braces. In a longer text than `MAX_EXTRACT`, thinking is
searched in the last characters, and boxes around the last (or first) command that makes one.
"""

import re
from array import array
from typing import Literal

#: Which box counts, what counts as a box, and whether thinking counts. The second value of each
#: is what the original AgentJet judges do.
Box = Literal["last", "first"]
BoxForms = Literal["any", "braces"]
Think = Literal["drop", "keep"]
#: Where an answer stands: in a box, in `<answer>…</answer>`, after the last `####`, as the last
#: number, or after the last "final answer" or "the answer is". `any` tries them in this order.
AnswerIn = Literal["boxed", "tag", "hash", "final_answer", "last_number", "any"]

#: Most characters of a text in which tags and boxes are searched.
MAX_EXTRACT = 1_000_000

_OPEN, _CLOSE = "<think>", "</think>"
_TAG = re.compile("</?think>")
_BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])")
#: A box, a brace, or a backslash with what it escapes: `\{` opens no group. In `\\boxed`, as in
#: text that was escaped twice, the second backslash still begins a box.
_PIECE = re.compile(
    r"(\\(?:boxed|fbox)(?![A-Za-z])\s*)(\{)?|([{}])|\\(?!\\(?:boxed|fbox)).", re.DOTALL
)
#: What `\boxed` takes without braces: a number, a command, or one letter or digit.
_TOKEN = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?|\\[A-Za-z]+|\w")


_STATED = re.compile(
    r"(?:final answer|the answer|answer)(?: is|:)(?::|\s)*|答案(?:是|为)?[：:]?\s*", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d{1,40}(?:,\d{3})*(?:\.\d{1,40})?|\.\d{1,40})%?")
#: What joins boxes that are one list.
_JOINT = re.compile(
    r"(?:[\s,;，；、$&.]|\\(?:quad|qquad|[,;()])|\\text\{ {0,3}(?:and|or) {0,3}\}"
    r"|and\b|or\b|和|或)*"
)
#: Most boxes of one list, and most characters of a text in which they are looked for.
_MAX_LIST, _LIST_CHARACTERS = 20, 20_000
_PHANTOM = re.compile(r"\\[hv]?phantom\s*\{")


def remove_thinking(text: str) -> str:
    """Return the text outside `<think>…</think>`.

    The chat template may have written the opening tag, so a closing tag without one ends thinking
    that began with the text; an opening tag without a closing one is thinking that was cut off.
    """
    if _CLOSE not in text and _OPEN not in text:
        return text
    return "".join(text[start:end] for start, end in _spans_outside(text))


def blank_thinking(text: str) -> str:
    """Return the text with its thinking replaced by spaces, so that offsets do not change."""
    if _CLOSE not in text and _OPEN not in text:
        return text
    pieces: list[str] = []
    last = 0
    for start, end in _spans_outside(text):
        pieces += [" " * (start - last), text[start:end]]
        last = end
    return "".join(pieces) + " " * (len(text) - last)


def _spans_outside(text: str) -> list[tuple[int, int]]:
    """Return start and end of each piece of text outside the thinking, in what is read of it."""
    kept: list[tuple[int, int]] = []
    start = max(0, len(text) - MAX_EXTRACT)
    before = start + len(_OPEN) - 1
    depth = int(start > 0 and text.rfind(_OPEN, 0, before) > text.rfind(_CLOSE, 0, before))
    for tag in _TAG.finditer(text, start):
        if tag[0] == _OPEN:
            if depth == 0:
                kept.append((start, tag.start()))
            depth += 1
        elif depth:
            depth -= 1
        else:
            kept.clear()
        if depth == 0:
            start = tag.end()
    if depth == 0:
        kept.append((start, len(text)))
    return kept


def find_boxed(text: str, box: Box = "last", forms: BoxForms = "any") -> str | None:
    """Return the content of the last (or first) box with balanced braces, stripped, or None.

    Of nested boxes, the last is the innermost.
    """
    if len(text) > MAX_EXTRACT:
        text = _cut_around_box(text, box)
    if box == "last":
        quick = _find_plain_last(text)
        if quick is not None:
            return quick.strip()
    span = _find_span(text, box, forms)
    return None if span is None else text[span[0] : span[1]].strip()


def _cut_around_box(text: str, box: Box) -> str:
    """Return the part of a long text around its last box, or from its first box on."""
    commands = ("\\boxed", "\\fbox")
    if box == "first":
        start = min((at for at in map(text.find, commands) if at >= 0), default=0)
    else:
        start = max(0, max(map(text.rfind, commands)) - MAX_EXTRACT // 2)
    return text[start : start + MAX_EXTRACT]


def _find_plain_last(text: str) -> str | None:
    """Return the last box if it has no braces or commands inside: the usual case, quickly."""
    start = text.rfind("\\boxed{")
    end = text.find("}", start)
    if start < 0 or end < 0:
        return None
    content = text[start + 7 : end]
    if "{" in content or "\\" in content or _BOX.search(text, end):
        return None
    return content


def _find_span(text: str, box: Box, forms: BoxForms) -> tuple[int, int] | None:
    """Return start and end of the content of the last (or first) box, in one pass."""
    if "\\boxed" not in text and "\\fbox" not in text:  # cheaper than the regular expression
        return None
    first = _BOX.search(text)
    if first is None:
        return None
    best: tuple[int, int] | None = None
    opened = array("q")  # for each open brace, the start of its box's content, or -1
    for piece in _PIECE.finditer(text, first.start()):
        command, brace, other = piece.groups()
        found: tuple[int, int] | None = None
        if command is not None:
            counts = forms == "any" or (command == "\\boxed" and brace is not None)
            if brace is not None:
                opened.append(piece.end() if counts else -1)
            elif counts and (token := _TOKEN.match(text, piece.end())):
                found = token.span()
        elif other == "{":
            opened.append(-1)
        elif other == "}" and opened and (start := opened.pop()) >= 0:
            found = (start, piece.start())
        if found and (best is None or (box == "last") == (found > best)):
            best = found
    return best and (best[0], _find_arguments_end(text, *best))


def _find_arguments_end(text: str, start: int, end: int) -> int:
    """Return the end of a bare command with its groups: `\\frac{1}{2}` in `\\boxed\\frac{1}{2}`."""
    if text[start : start + 1] != "\\" or not text[start + 1 : end].isalpha():
        return end
    depth, last = 0, end
    for piece in _PIECE.finditer(text, end):
        if depth == 0 and (piece.start() > last or not piece[0].startswith("{")):
            break
        depth += (piece[3] == "{" or piece[2] is not None) - (piece[3] == "}")
        if depth == 0:
            last = piece.end()
    return last


def find_tagged(text: str, tag: str = "answer") -> str | None:
    """Return the content of the last complete `<tag>…</tag>`, stripped, or None."""
    end = text.rfind(f"</{tag}>")
    start = text.rfind(f"<{tag}>", 0, end) if end >= 0 else -1
    return None if start < 0 else text[start + len(tag) + 2 : end].strip()


def find_answer(
    text: str, answer_in: AnswerIn, *, box: Box = "last", forms: BoxForms = "any"
) -> str | None:
    """Return the answer at the place that `answer_in` names, without hidden parts; None if none."""
    if answer_in == "any":
        places: list[AnswerIn] = ["boxed", "tag", "hash", "final_answer", "last_number"]
        found = (find_answer(text, place, box=box, forms=forms) for place in places)
        return next((one for one in found if one is not None), None)
    if answer_in == "boxed":
        answer = find_boxed(text, box, forms)
    elif answer_in == "tag":
        answer = find_tagged(text)
    elif answer_in == "hash":
        answer = text.rpartition("####")[2].strip().partition("\n")[0] if "####" in text else None
    elif answer_in == "final_answer":
        answer = _find_stated(text)
    else:
        numbers = _NUMBER.findall(text[-_LIST_CHARACTERS:])
        answer = numbers[-1] if numbers else None
    if answer is None:
        return None
    return remove_phantoms(answer if answer_in == "boxed" else _remove_delimiters(answer))


def _find_stated(text: str) -> str | None:
    """Return the sentence after the last "the answer is", or the formula or box in it."""
    ends = [found.end() for found in _STATED.finditer(text)]
    if not ends:
        return None
    line = text[ends[-1] :].partition("\n")[0].strip().strip("*")
    inner = find_boxed(line)
    if inner is not None:
        return inner
    formula, closing, _ = line.removeprefix("$").partition("$")
    if line.startswith("$") and closing:
        return formula
    return line.partition(". ")[0].removesuffix(".")


def _remove_delimiters(text: str) -> str:
    """Return a formula without the `$…$` or `\\(…\\)` around it."""
    text = text.strip()
    for opening, closing in (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")):
        inner = text[len(opening) : -len(closing)]
        if text.startswith(opening) and text.endswith(closing) and opening not in inner:
            return inner.strip()
    return text


def find_box_list(text: str, forms: BoxForms = "any") -> list[str]:
    """Return the last boxes that only "and", "or", commas or spacing separate, in their order."""
    text = text[-_LIST_CHARACTERS:]
    found: list[str] = []
    while len(found) < _MAX_LIST and (span := _find_span(text, "last", forms)) is not None:
        after = text[span[1] :].removeprefix("}")
        if found and not _JOINT.fullmatch(after):
            break
        found.append(text[span[0] : span[1]].strip())
        text = text[: text.rfind("\\", 0, span[0])]
    return found[::-1]


def remove_phantoms(text: str) -> str:
    """Return a formula without its `\\phantom{…}`, which takes space and is not shown."""
    if "phantom" not in text:
        return text
    kept: list[str] = []
    end = 0
    for match in _PHANTOM.finditer(text):
        if match.start() < end:
            continue
        kept.append(text[end : match.start()])
        end = _find_close(text, match.end())
    return "".join([*kept, text[end:]]).strip()


def _find_close(text: str, start: int) -> int:
    """Return the end of the group that began before `start`; the end of the text if it is open."""
    depth = 1
    for piece in re.finditer(r"\\.|[{}]", text[start:], re.DOTALL):
        depth += (piece[0] == "{") - (piece[0] == "}")
        if depth == 0:
            return start + piece.end()
    return len(text)
