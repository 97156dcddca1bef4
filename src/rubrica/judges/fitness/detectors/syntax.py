"""Whether some code in an output does not parse in its language.

Code is what stands in a fence, or an output that is nothing but code. Each block is read by the
parser of its language; one whose language has no parser here is not judged, and the reason says so.
"""

import ast
import re
import time
import warnings
from typing import NamedTuple

from rubrica.judges.fitness.detectors.blocks import Block, blocks
from rubrica.judges.fitness.detectors.data import (
    json_broken,
    lines_are_json,
    toml_broken,
    yaml_broken,
)
from rubrica.judges.fitness.detectors.language import guess, named
from rubrica.judges.fitness.detectors.snippet import forms
from rubrica.judges.fitness.detectors.statements import sql_broken
from rubrica.judges.fitness.detectors.trees import TooLong, broken, parser, too_deep

#: Characters of one block, and seconds for one output.
LONGEST = 32_000
SECONDS = 2.0
_MAGIC = re.compile(r"^[ \t]*(?:[%!][^\n]*|\S+\?{1,2})$", re.MULTILINE)
_SESSION = re.compile(
    r"^\s*(?:\$|>>>|\.\.\.|PS [^\n>]*>|C:\\[^\n>]*>|❯|➜|\w+@[\w-]+[^\n$#]*[$#]) ", re.MULTILINE
)
_DIFF = re.compile(r"^(?:@@ |diff --git |\+\+\+ |--- a/)", re.MULTILINE)
#: Go ends the statement at the end of the line, which the grammar does not see here.
_BRACE = re.compile(r"^[ \t]*(?:if|for|switch|select|func)\b[^{}\n]*\n\s*\{[ \t]*$", re.MULTILINE)
_EACH = re.compile(r"^[-+]", re.MULTILINE)
_GENERIC = re.compile(r"^(\s*(?:async )?(?:def|class) \w+)\[[^\]\n]*\]", re.MULTILINE)
_TYPE = re.compile(r"^(\s*)type (\w+)(?:\[[^\]\n]*\])? =", re.MULTILINE)


class Syntax(NamedTuple):
    """`broken` is None where no code could be judged; `reason` says which block, or why none."""

    broken: bool | None
    reason: str


def has_syntax_errors(output: str) -> bool:
    """Whether a block of code does not parse; False where there is none to judge."""
    return syntax(output).broken is True


def syntax(output: str) -> Syntax:
    """What the parsers say of the code in an output."""
    found = blocks(output)
    if not found:
        language = guess(output[: LONGEST + 1], alone=True)
        if language is None:
            return Syntax(None, "no code")
        found = [Block(language, output, 0, 0)]
    deadline = time.monotonic() + SECONDS
    unread: list[str] = []
    read = 0
    for number, block in enumerate(found, 1):
        language = named(block.language) if block.language else guess(block.text)
        if language is None:
            unread.append(f"no parser for {block.language}" if block.language else "text")
            continue
        if language == "text" or _is_session(language, block.text):
            unread.append("text")
            continue
        try:
            wrong = _broken(language, block.text, deadline)
        except TooLong:
            unread.append(f"block {number} takes too long")
            continue
        if wrong is None:
            unread.append(f"{language} needs rubrica[code]")
            continue
        if wrong:
            return Syntax(True, f"block {number} ({language}) does not parse")
        read += 1
    if not read:
        return Syntax(None, "; ".join(dict.fromkeys(unread)) or "no code")
    return Syntax(False, f"{read} of {len(found)} blocks parse")


def _is_session(language: str, text: str) -> bool:
    """Shell and REPL sessions and patches show code among other things."""
    if language in ("bash", "python", "javascript", "sql") and _SESSION.search(text):
        return True
    if _DIFF.search(text):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    return language != "yaml" and bool(lines) and all(_EACH.match(line) for line in lines)


def _broken(language: str, text: str, deadline: float) -> bool | None:
    """None where the parser of the language is not installed."""
    if len(text) > LONGEST or time.monotonic() > deadline or too_deep(text):
        raise TooLong(language)
    if not text.strip():
        return False
    if language in ("json", "jsonc"):
        return json_broken(text, remarks=language == "jsonc")
    if language == "jsonl":
        return not lines_are_json(text.strip())
    if language == "toml":
        return toml_broken(text)
    if language == "yaml":
        return yaml_broken(text, deadline)
    if language == "python":
        return all(_python_fails(form) for form in forms("python", _MAGIC.sub("", text)))
    if parser(language) is None:
        return None
    if language == "go" and _BRACE.search(text):
        return True
    wrong = all(broken(language, form, deadline) for form in forms(language, text))
    if language == "sql":
        return sql_broken(text, wrong)
    if wrong and language == "typescript":
        return broken("tsx", text, deadline)
    if wrong and language == "c" and parser("cpp") is not None:
        return broken("cpp", text, deadline)
    return wrong


def _python_fails(text: str) -> bool:
    """Grammar of a newer Python than the one that runs is written as the older one."""
    newer = _TYPE.sub(r"\1\2 =", _GENERIC.sub(r"\1", text))
    for form in dict.fromkeys((text, newer)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                ast.parse(form)
            except (SyntaxError, ValueError):
                continue
            except (RecursionError, MemoryError) as reason:
                raise TooLong("python") from reason
        return False
    return True
