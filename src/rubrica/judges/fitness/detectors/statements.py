"""SQL, which has as many grammars as makers.

A text is wrong where SQLite's strict grammar says so, unless a word of another dialect excuses it
or only tree-sitter's tolerant grammar can know the statement. SQLite compiles and runs nothing, on
an empty database in memory, and an authorizer forbids every action.
"""

import re
import sqlite3

from rubrica.judges.fitness.detectors.lists import sections

_STRING = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[\w ]+\]|\$\$.*?(?:\$\$|\Z)", re.DOTALL
)
_REMARK = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_DIALECT = re.compile("|".join(sections("languages")["dialects"]), re.IGNORECASE)
_COMMON = re.compile(
    r"\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|CREATE TABLE|DROP TABLE)\b", re.IGNORECASE
)
_PLACE = re.compile(
    r"<[^\W\d_][\w \-]{0,40}>|\{\{[^{}\n]{0,80}\}\}|\$\{\w+\}|%s|%\(\w+\)s|\.\.\.|…"
)
_SYNTAX = ("syntax error", "unrecognized token", "incomplete input", "unterminated")


def sql_broken(code: str, wrong: bool) -> bool:
    """Whether the text is no SQL, where tree-sitter found it `wrong` or not.

    Its grammar lets some mistakes pass; SQLite alone is believed on statements that all dialects
    have.
    """
    bare = _STRING.sub("''", _REMARK.sub("", code))
    if wrong and bare.count("(") != bare.count(")"):
        return True
    if not sqlite_refuses(_PLACE.sub("x", code)):
        return False
    if of_a_dialect(code):
        return False
    return wrong or all(map(_COMMON.match, _statements(code)))


def sqlite_refuses(code: str) -> bool:
    """Whether SQLite's grammar refuses one of the statements."""
    base = sqlite3.connect(":memory:")
    try:
        base.set_authorizer(lambda *_action: sqlite3.SQLITE_DENY)
        return any(_refused(base, statement) for statement in _statements(code))
    finally:
        base.close()


def of_a_dialect(code: str) -> bool:
    """Whether a word of another dialect is in it, and nothing is left open."""
    bare = _STRING.sub("''", _REMARK.sub("", code))
    balanced = bare.count("(") == bare.count(")") and bare.count("'") % 2 == 0
    return balanced and bare.count('"') % 2 == 0 and _DIALECT.search(bare) is not None


def _refused(base: sqlite3.Connection, statement: str) -> bool:
    try:
        base.execute("EXPLAIN " + statement)
    except (sqlite3.Error, sqlite3.Warning) as reason:
        return any(word in str(reason) for word in _SYNTAX)
    return False


def _statements(code: str) -> list[str]:
    text = _REMARK.sub(" ", code)
    cuts: list[str] = []
    piece = ""
    for part in text.split(";"):
        piece += part + ";"
        if sqlite3.complete_statement(piece):
            cuts.append(piece)
            piece = ""
    if piece.strip("; \n\t"):
        cuts.append(piece)
    return [cut for cut in cuts if cut.strip("; \n\t")]
