r"""Finds passwords, tokens and keys in text, and replaces them by `[key]`.

Two ways that need each other. Patterns know how secrets are written: `://user:password@host`,
`?api_key=…`, `Authorization: Bearer …`, `--token …`, `sk-…`. A secret that was given on the command
line, in an address or in a variable is also remembered (`remember_secrets`): servers, libraries and
commands quote it in ways that no pattern knows.

The text is untrusted, so each pattern takes time linear in its length: it starts only where a run
of its characters starts, does not backtrack, or is bounded.
"""

import base64
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import msgspec

HIDDEN = "[key]"
#: A shorter secret is a placeholder ("EMPTY", "x") or a word that any text may have.
MIN_LENGTH = 8
#: An address, a command or a header longer than this has its further secrets left to the patterns.
MAX_SPEC = 100_000

#: Searched in the lower-case text: ignoring case would take five times as long.
NAMED = re.compile(
    r"(?:api|access|private|signing|secret)[_ -]?key|token|secret|password|passwd|pwd|authorization"
)
VALUE = re.compile(
    r"\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:(?i:bearer|basic|token) )?+(?!\[)([^\s\"',;&\\]{6,}+)"
)
BEARER = re.compile(r"(?i)\b(bearer|basic)(\s{1,3})(?!-)(?=[a-z._~+/=-]{0,200}\d)[\w.~+/=-]{8,}+")
LOGIN = re.compile(r"://[^\s/@:]{0,100}:[^\s/@]{1,200}@")
TOKEN = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{16,}+")
PREFIX = re.compile(
    r"(?:^|[_-])(?:(?:sk|pk|rk|ak|whsec|key)[_-]|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|xapp-|"
    r"AKIA|ASIA|AIza|ya29|eyJ|hf_|npm_|pypi-|dop_v1_|shpat_|SG)"
)
CHAINED = re.compile(r"\[key\](?:\.\[key\])+")
#: Only ASCII letters: some other letters become longer in lower case, which shifts positions.
LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")

#: Parts of the names of parameters, headers, flags and variables whose values are secret.
_WORDS = (
    r"(?:(?<![a-z])key|apikey|accesskey|token(?!s|i)|secret|passw|pwd|auth(?!or(?!iz))|credential|cookie"
    r"|sig(?![a-z])|signature)"
)
_NAME = rf"(?=[\w.-]{{0,60}}?{_WORDS})[\w.-]{{1,80}}+"
#: Where a specification (an address, a command, a header) has a secret, as its first group.
_LOGIN = r"://(?!\[key\])([^\s/@\"'?#]{1,300})@"
_QUERY = rf"[?&;]{_NAME}=(?!\[key\])([^\s&#\"';|]{{1,4000}}+)"
#: No secrets: `auth_agent:answer` (a word alone is a header: `Authorization:answer`), and the port
#: of `http://auth:8080/` or `auth-service:8080`.
_HEADER = r"(?:proxy_)?authorization|cookie|token|secret|password|passw|pwd|(?:api|access)?_?key"
_FUNCTION = rf"(?<!\S)(?!(?:{_HEADER}):)[a-z_][\w.]{{0,80}}+:[a-z_][a-z_.]{{0,80}}+\d{{0,2}}(?!\S)"
_ENDS = "".join(f"(?<!{word})" for word in ("key", "token", "secret", "pwd", "auth", "cookie"))
_PORT = r":\d{1,5}(?=[/?#\s\"',;)]|$)"
_ADDRESS = rf"(?<=//)[\w.-]{{1,80}}+{_PORT}|[\w.-]{{1,80}}+{_ENDS}(?<!password)(?<!ation){_PORT}"
#: `token.py:answer` is an agent, not a secret.
_ASSIGNED = rf"(?<![\w.-])(?!{_FUNCTION}|{_ADDRESS}){_NAME}(?<!\.py)"
_ASSIGNED += r"\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:(?:bearer|basic|token|digest)\s{1,3}(?!-))?+"
_ASSIGNED += r"(?!\[key\])([^\s\"'&;|\\)]{3,4000}+)"
_FLAG = rf"(?<!\S)--?{_NAME}(?:\s{{1,3}}|=)[\"']?(?![-\[])([^\s\"';|)]{{3,4000}}+)"
_USER = r"(?<!\S)(?:-u|--user|--proxy-user)(?:\s{1,3}|=)?[\"']?(?!\[key\])"
_USER += r"([^\s\"':;|]{1,200}:[^\s\"';|]{1,200}+)"
_SCHEME = r"\b(?:bearer|basic)\s{1,3}(?!-|\[key\])([\w.~+/=:-]{3,4000}+)"
_IN_SPEC = (
    re.compile(_LOGIN, re.IGNORECASE),
    re.compile(_QUERY, re.IGNORECASE),
    re.compile(_ASSIGNED, re.IGNORECASE),
    re.compile(_FLAG, re.IGNORECASE),
    re.compile(_USER, re.IGNORECASE),
    re.compile(_SCHEME, re.IGNORECASE),
)
#: Names of environment variables with secret values, and values that look like one.
_SECRET_VARIABLE = re.compile(r"(?i)key|token|secret|passw|credential|_pat\b|_dsn\b|database_url")
_RANDOM = re.compile(r"(?=\S*\d)(?!/)\S{12,4000}")  # not a path
_NUMBER = re.compile(r"[\d.,eE+-]+")
_SECRET_KEY = re.compile(r"(?i)^(?!.*_(?:env|file)$).*(?:key|token|secret|password|authorization)$")

#: A text in JSON, and the colon after a key.
_JSON_TEXT = re.compile(r'("(?:[^"\\]++|\\(?:.|\Z))*+(?:"|\Z))(\s*+:)?+', re.DOTALL)

_UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

_remembered: dict[str, None] = {}


def remember_secrets(*secrets: str) -> None:
    """Keep secrets in this process, so that `hide_known` finds them wherever they are quoted."""
    for secret in secrets:
        if not _is_distinct(secret):
            continue
        plain = _unquote(secret)
        for form in (secret, plain, _quote(plain), _quote(plain, b"/")):
            _remembered[form] = None
            _remembered[msgspec.json.encode(form).decode()[1:-1]] = None


def _is_distinct(secret: str) -> bool:
    """Whether a text is long and odd enough to be hidden wherever it stands.

    A word or a number would be hidden in answers that mean something else.
    """
    if len(secret) < MIN_LENGTH or _NUMBER.fullmatch(secret):
        return False
    return len(secret) >= 12 or not (secret.isalpha() and secret.islower())


def _looks_random(text: str) -> bool:
    """Whether a text is no word and no words joined by `_` or `-`: `output_tokens`, `topic-12`.

    What only stands where secrets stand may be an ordinary word, which answers have too.
    """
    if re.search(r"(?i)[a-z]\d|\d[a-z]", text):
        return True
    mixed = bool(re.search("[a-z]", text)) and bool(re.search("[A-Z]", text))
    has_digits = bool(re.search(r"\d", text))
    return mixed and (has_digits or len(re.findall("[a-z][A-Z]", text)) * 5 >= len(text))


def _unquote(text: str) -> str:
    """Return a part of an address without its percent escapes."""
    parts = re.split(r"((?:%[0-9A-Fa-f]{2})+)", text)
    escaped = [bytes.fromhex(part.replace("%", "")) for part in parts[1::2]]
    parts[1::2] = [part.decode(errors="replace") for part in escaped]
    return "".join(parts)


def _quote(text: str, safe: bytes = b"") -> str:
    """Return text with percent escapes, as clients write it into an address."""
    kept = _UNRESERVED + safe
    return "".join(chr(b) if b in kept else f"%{b:02X}" for b in text.encode(errors="replace"))


def remember_spec(spec: str) -> None:
    """Remember the secrets of an address, a command or a header that look like nothing else."""
    for pattern in _IN_SPEC:
        for found in pattern.findall(spec[:MAX_SPEC]):
            user, colon, password = found.partition(":")
            forms = [password, found] if colon and password else [found]
            if colon and password:  # the form in which HTTP sends it
                pair = f"{_unquote(user)}:{_unquote(password)}".encode()
                forms.append(base64.b64encode(pair).decode())
            remember_secrets(*filter(_looks_random, forms))


def hide_in_spec(spec: str, *, remember: bool = True) -> str:
    """Return an address, a command or a header without its secrets, and remember these."""
    if remember:
        remember_spec(spec)
    for pattern in _IN_SPEC:
        spec = pattern.sub(_replace_group, spec)
    return hide_known(spec)


def _replace_group(found: re.Match[str]) -> str:
    start = found.start()
    return f"{found[0][: found.start(1) - start]}{HIDDEN}{found[0][found.end(1) - start :]}"


def hide_in_options(value: Any, *, remember: bool = True) -> Any:
    """Return JSON data of settings without secrets, whether by their key or in their text."""
    if isinstance(value, str):
        return hide_in_spec(value, remember=remember)
    if isinstance(value, Mapping):
        return {
            key: HIDDEN
            if isinstance(item, str) and item and _SECRET_KEY.match(str(key))
            else hide_in_options(item, remember=remember)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [hide_in_options(item, remember=remember) for item in value]
    return value


def hide_known(text: str) -> str:
    """Return the text without the secrets that this process was given, in any spelling."""
    found = [secret for secret in (*_remembered, *_read_environment()) if secret in text]
    for secret in sorted(found, key=len, reverse=True):  # one may be a part of another
        text = text.replace(secret, HIDDEN)
    return text


def hide_in_json(text: str) -> str:
    """Return JSON without known secrets in its texts; keys and numbers stay as they are."""
    return text if hide_known(text) == text else _JSON_TEXT.sub(_hide_json_text, text)


def _hide_json_text(found: re.Match[str]) -> str:
    if found[2]:
        return found[0]
    text: str = msgspec.json.decode(found[1])
    hidden = hide_known(text)
    return found[0] if hidden == text else msgspec.json.encode(hidden).decode()


def hide_secrets(text: str) -> str:
    """Return an error's text without secrets: those that are known, and what is written as one."""
    text = hide_known(text)
    for pattern in _IN_SPEC[:2]:
        text = pattern.sub(_replace_group, text)
    return hide_keys(text, prose=True)


@cache
def _read_environment() -> tuple[str, ...]:
    """Return values of variables that are named like secrets: agents inherit and print them."""
    found: Iterable[str] = (
        value
        for name, value in os.environ.items()
        if _SECRET_VARIABLE.search(name)
        and _RANDOM.fullmatch(value)
        and _is_distinct(value)
        and "/" not in value[:1]
    )
    return tuple(found)


def hide_keys(text: str, *, prose: bool = False) -> str:
    """Return the text without what is written as a key; in prose, `token: word` is none."""
    lower = text.lower() if text.isascii() else text.translate(LOWER)
    text = _remove_named(text, lower, prose)
    if "bearer" in lower or "basic" in lower:
        text = BEARER.sub(rf"\1\2{HIDDEN}", text)
    text = LOGIN.sub(f"://{HIDDEN}@", text)
    text = TOKEN.sub(_redact_token, text)
    return CHAINED.sub(HIDDEN, text) if f"{HIDDEN}.{HIDDEN}" in text else text


def _remove_named(text: str, lower: str, prose: bool) -> str:
    """Replace the value after a word like `password` and `:` or `=`."""
    parts, at = [], 0
    for name in NAMED.finditer(lower):
        if name.start() >= at and (value := VALUE.match(text, name.end())):
            if prose and not any(map(str.isdigit, value[1])):
                continue
            parts += [text[at : value.start(1)], HIDDEN]
            at = value.end(1)
    return "".join([*parts, text[at:]])


def _redact_token(found: re.Match[str]) -> str:
    """Replace a token that has the prefix of a known kind of key, or that looks random."""
    token = found[0]
    digits = sum(map(token.count, "0123456789"))
    prefix = PREFIX.search(token)
    if prefix and digits and len(token) - prefix.end() >= 12:
        return f"{token[: prefix.start()]}{HIDDEN}"
    if len(token) >= 32 and digits >= 3:
        upper = sum(letter.isupper() for letter in token)
        lower = sum(letter.islower() for letter in token)
        if upper >= 3 and lower >= 3:
            return HIDDEN
    return token
