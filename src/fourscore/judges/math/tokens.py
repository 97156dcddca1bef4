r"""Split a text in LaTeX, Unicode or plain typing into tokens.

A token is a string whose first character tells its kind: a digit or `.` (number), a backslash
(command), `"` (a word, e.g. `"cm`), a letter (variable), else punctuation. Spacing, `$`, `\left`
and the like are dropped; `\text{...}` becomes words. `1,234` is a number or a list: `thousands`
chooses.
"""

from __future__ import annotations

import re
import unicodedata

from fourscore.judges.math.limits import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_TOKENS,
    MalformedError,
    SizeError,
    UnsupportedError,
)
from fourscore.judges.math.units import is_unit_letter, is_unit_word

_GROUPED = r"\d{1,3}(?:(?:\{,\}|\\!,|,\\!|\\,|\\[ ])\d{3})+(?!\d)(?:\.\d+)?"
_COMMAS = r"\d{1,3}(?:(?:,\d{3})+|(?:[ ]\d{3})+)(?!\d)(?:\.\d+)?"
_PLAIN = r"\d+(?:\.\d+)?[eE][+-]?\d+(?![\w.])|\d+\.?\d*|\.\d+"
_REST = (
    r"|(?P<row>\\\\)|(?P<command>\\[a-zA-Z]+\*?)|(?P<escape>\\.)|(?P<run>[^\W\d_]+)"
    r"|(?P<space>[\s~]+)|(?P<mark>\*\*|<=|>=|!=|==|[-+*/^_=<>()\[\]{}|!,;:%'&$.\"?])"
)
_SCANNERS = {
    True: re.compile(rf"(?P<number>{_GROUPED}|{_COMMAS}|{_PLAIN}){_REST}", re.DOTALL),
    False: re.compile(rf"(?P<number>{_GROUPED}|{_PLAIN}){_REST}", re.DOTALL),
}
_THOUSANDS = re.compile(rf"(?<![\d.,])(?:{_COMMAS})")
_RADICAL = re.compile(r"√\s*(\d+(?:\.\d+)?)")
_GROUPING = re.compile(r"[^\d.eE+-]")

_DROPPED = frozenset(
    str.split(
        r"""\left \right \big \Big \bigg \Bigg \bigl \bigr \Bigl \Bigr \biggl \biggr \mleft \mright
    \displaystyle \textstyle \scriptstyle \limits \nolimits \quad \qquad \, \; \: \! \ \( \) \[ \]
    \rm \bf \it \thinspace \enspace \hfill \nobreak \noindent \ensuremath
    \boldsymbol \bm \mathop \mathstrut \hspace \boxed \fbox"""
    )
) | {"\\ ", "\\\n"}  # fmt: skip
_SYNONYMS = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac", r"\dbinom": r"\binom",
    r"\tbinom": r"\binom", r"\leq": r"\le", r"\leqslant": r"\le", r"\geq": r"\ge", "<=": r"\le",
    r"\geqslant": r"\ge", ">=": r"\ge", "!=": r"\ne", r"\neq": r"\ne", "==": "=", r"\lt": "<",
    r"\gt": ">", "**": "^", r"\ast": "*", r"\times": "*", r"\cdot": "*", r"\div": "/",
    r"\lbrace": r"\{", r"\rbrace": r"\}", r"\lvert": "|", r"\rvert": "|", r"\vert": "|",
    r"\mid": "|", r"\lbrack": "[", r"\rbrack": "]", r"\%": "%", r"\varnothing": r"\emptyset",
    r"\lor": ",", r"\vee": ",", r"\sim": r"\approx", r"\simeq": r"\approx", r"\tg": r"\tan",
    r"\varphi": r"\phi", r"\colon": ":", r"\ldotp": ".", r"\&": "&", r"\_": "_", r"\ctg": r"\cot",
}  # fmt: skip
_WORD_COMMANDS = frozenset(
    str.split(r"\text \textbf \textit \textrm \textnormal \texttt \textsf \mbox \hbox \mathrm")
)
_LETTER_COMMANDS = frozenset(str.split(r"\mathbf \mathit \mathcal \mathsf \mathnormal \vec \hat"))
_CURRENCY = frozenset({r"\$", "\\€", "\\£", "\\¥", "\\₹", r"\pounds", r"\euro"})
_NAMED = {
    "sin": r"\sin", "cos": r"\cos", "tan": r"\tan", "cot": r"\cot", "sec": r"\sec", "csc": r"\csc",
    "ln": r"\ln", "log": r"\log", "sqrt": r"\sqrt", "pi": r"\pi", "infinity": r"\infty",
    "inf": r"\infty", "Infinity": r"\infty", "oo": r"\infty", "arctan": r"\arctan",
    "arcsin": r"\arcsin", "arccos": r"\arccos", "exp": r"\exp", "frac": r"\frac",
    "cdot": "*", "times": "*",
    "or": ",", "and": ",", "mod": r"\bmod", "percent": "%", "percentage": "%", "pct": "%",
    "theta": r"\theta", "alpha": r"\alpha", "beta": r"\beta", "lambda": r"\lambda", "cup": r"\cup",
}  # fmt: skip
#: Unicode characters and the LaTeX or ASCII that they stand for.
_UNICODE = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ",
    "∙": r"\cdot ", "÷": r"\div ", "∕": "/", "⁄": "/", "π": r"\pi ", "∞": r"\infty ",
    "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "≈": r"\approx ", "±": r"\pm ",
    "∓": r"\mp ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ", "∅": r"\emptyset ", "°": r"^\circ ",
    "²": "^2", "³": "^3", "¹": "^1", "⁰": "^0", "⁴": "^4", "⁵": "^5", "½": r"\frac12 ",
    "⅓": r"\frac13 ", "⅔": r"\frac23 ", "¼": r"\frac14 ", "¾": r"\frac34 ", "⅕": r"\frac15 ",
    "θ": r"\theta ", "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "λ": r"\lambda ",
    "ℝ": r"\mathbb{R}", "′": "'", "“": '"', "”": '"', "‘": "'", "’": "'", "，": ",", "。": ".",
    "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u200b": "", "\ufeff": "", "€": r"\€", "£": r"\£",
    "¥": r"\¥", "₹": r"\₹", "⟨": r"\langle ", "⟩": r"\rangle ",
}  # fmt: skip
_TRANSLATION = {ord(key): value for key, value in _UNICODE.items()}
_TRANSLATION |= {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}  # full-width forms
_OPEN = {"(": ")", "[": "]", "{": "}", "\\{": "\\}", r"\langle": r"\rangle"}
_OPEN |= {r"\lfloor": r"\rfloor", r"\lceil": r"\rceil"}
_CLOSE = frozenset(_OPEN.values())


def normalise_unicode(text: str) -> str:
    """Return the text with Unicode characters replaced by the LaTeX or ASCII they stand for."""
    if not text.isascii():
        text = _RADICAL.sub(r"\\sqrt{\1}", text).replace("√", r"\sqrt ").translate(_TRANSLATION)
        if not text.isascii():
            text = "".join(
                str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c
                for c in text
            )
    return text.strip()


def has_thousands(text: str) -> bool:
    """Whether a text has a number with separated thousands, such as `1,234`."""
    return _THOUSANDS.search(text) is not None


def tokenise(text: str, thousands: bool, words: bool = False, depth: int = 0) -> list[str]:
    """Split a text into tokens; `words` keeps runs of letters together."""
    scanner = _SCANNERS[thousands]
    tokens: list[str] = []
    position, end = 0, len(text)
    while position < end:
        match = scanner.match(text, position)
        if match is None:
            raise _make_error(text[position])
        position = match.end()
        kind, value = match.lastgroup, match.group()
        if kind == "number":
            tokens.append(_clean_number(value))
        elif kind == "row":
            tokens.append(value)
        elif kind == "run":
            tokens.extend(_split_letters(value, words))
        elif kind == "mark":
            if value not in '$"?':
                tokens.append(_SYNONYMS.get(value, value))
        elif kind != "space":
            position = _read_command(
                text, position, value, thousands=thousands, depth=depth, tokens=tokens
            )
        if len(tokens) > MAX_TOKENS:
            raise SizeError("too many tokens")
    return tokens


def _make_error(character: str) -> UnsupportedError:
    if unicodedata.category(character) in ("Cc", "Cs", "Co", "Cn"):
        return MalformedError("not a character of a formula")
    return UnsupportedError("unknown character")


def _clean_number(value: str) -> str:
    if "e" not in value and "E" not in value:
        value = _GROUPING.sub("", value)
    if len(value) > MAX_DIGITS:
        raise SizeError("number too long")
    return value


def _split_letters(run: str, words: bool) -> list[str]:
    if run in _NAMED:
        return [_NAMED[run]]
    if len(run) == 1:
        return ['"' + run] if words and is_unit_letter(run) else [run]
    if words or len(run) > 3 or not run.isascii() or (len(run) > 1 and is_unit_word(run)):
        return ['"' + run]
    return list(run)


def _read_command(
    text: str, position: int, name: str, *, thousands: bool, depth: int, tokens: list[str]
) -> int:
    """Append the tokens of a command; return the position after it."""
    if name in _CURRENCY:
        tokens.append('"' + {r"\pounds": "£", r"\euro": "€"}.get(name, name[1:]))
        return position
    if name in _WORD_COMMANDS or name in _LETTER_COMMANDS or name == r"\operatorname":
        inside, position = _read_group(text, position)
        if depth >= 3:
            raise SizeError("nested text")
        stripped = inside.strip()
        if name == r"\operatorname":
            tokens.append("\\" + stripped)
        else:
            # \mathrm{e} and \mathrm{i} are the constants; \mathrm{m} is a unit
            letters = name in _LETTER_COMMANDS or stripped in ("e", "i")
            tokens.extend(tokenise(inside, thousands, words=not letters, depth=depth + 1))
        return position
    if name == r"\left" or name == r"\right":
        return position + 1 if text.startswith(".", position) else position
    if name in (r"\begin", r"\end", r"\mathbb"):
        inside, position = _read_group(text, position)
        tokens.append(f"{name}{{{inside.strip()}}}")
        return position
    if name not in _DROPPED:
        tokens.append(_SYNONYMS.get(name, name))
    return position


def _read_group(text: str, position: int) -> tuple[str, int]:
    """Return the content of the braces that open at position, and the position after them."""
    while position < len(text) and text[position].isspace():
        position += 1
    if not text.startswith("{", position):
        if position >= len(text):
            raise MalformedError("argument missing")
        return text[position], position + 1
    level = 0
    for index in range(position, len(text)):
        if text[index] == "{":
            level += 1
        elif text[index] == "}":
            level -= 1
            if not level:
                return text[position + 1 : index], index + 1
    raise MalformedError("braces do not close")


def match_brackets(tokens: list[str]) -> dict[int, int]:
    """Return the closing index of each opening bracket. `(1, 2]` is allowed; `{1)` is not."""
    stack: list[int] = []
    found: dict[int, int] = {}
    for index, token in enumerate(tokens):
        if token in _OPEN or token.startswith("\\begin{"):
            stack.append(index)
            if len(stack) > MAX_DEPTH:
                raise SizeError("nested too deep")
        elif token in _CLOSE or token.startswith("\\end{"):
            if not stack:
                raise MalformedError("brackets do not match")
            start = stack.pop()
            if not _brackets_match(tokens[start], token):
                raise MalformedError("brackets do not match")
            found[start] = index
    if stack:
        raise MalformedError("brackets do not match")
    return found


def _brackets_match(opening: str, closing: str) -> bool:
    if opening in "([" and closing in ")]":
        return True
    if opening.startswith("\\begin"):
        return closing == opening.replace("\\begin", "\\end", 1)
    return _OPEN.get(opening) == closing
