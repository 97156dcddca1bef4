"""Remove text that people cannot see: it may hide instructions to a model, or split words."""

import re

#: Characters that a model reads and people do not see: format characters, tags, fillers, variation
#: selectors, controls. They can hide text, or split words.
INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
#: A character that is neither ASCII nor common in Chinese: a fast test before `INVISIBLE`.
_UNCOMMON = re.compile("[^\u4e00-\u9fff -~\t\n\r\u3001-\u303f\uff01-\uff5e“”‘’—–…·×°]")
#: Text that rendered markdown hides or strikes out: comments and deleted text.
_HIDDEN_MARKDOWN = re.compile(
    r"<!--.*?(?:-->|\Z)|(?<!~)~~(?![~\s])[^\n]*?(?<!~)~~(?!~)|^\[//\]:[^\n]*",
    re.DOTALL | re.MULTILINE,
)
#: The invisible characters of ASCII text, which `bytes.translate` removes ten times faster.
_CONTROLS = bytes({*range(0x20), 0x7F} - {*b"\t\n\r"})


def remove_invisible(text: str) -> str:
    """Return the text without invisible characters."""
    if not text.isascii():
        return INVISIBLE.sub("", text) if _UNCOMMON.search(text) else text
    data = text.encode()
    clean = data.translate(None, _CONTROLS)
    return text if len(clean) == len(data) else clean.decode()


def blank_hidden_markdown(text: str) -> str:
    """Return the text with hidden markdown replaced by spaces, so that offsets do not change."""
    if "<!" in text or "~~" in text or "//]" in text:
        return _HIDDEN_MARKDOWN.sub(lambda found: " " * len(found[0]), text)
    return text
