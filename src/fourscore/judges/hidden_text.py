"""What of a text can be seen: orders to a model, or gaps that break up words, hide in the rest."""

import re

#: Characters that nobody sees and a model reads: format characters, tags, fillers, variation
#: selectors, controls. Text can be hidden in them, or broken up by them.
INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
#: Neither ASCII nor common in Chinese: only where there is such a sign, all are looked at.
_UNCOMMON = re.compile("[^\u4e00-\u9fff -~\t\n\r\u3001-\u303f\uff01-\uff5e“”‘’—–…·×°]")
#: What is not shown, or struck out, where markdown is rendered: comments and deleted text.
_UNSHOWN = re.compile(
    r"<!--.*?(?:-->|\Z)|(?<!~)~~(?![~\s])[^\n]*?(?<!~)~~(?!~)|^\[//\]:[^\n]*",
    re.DOTALL | re.MULTILINE,
)
#: Controls where there is nothing but ASCII, of which bytes are rid ten times as fast.
_CONTROLS = bytes({*range(0x20), 0x7F} - {*b"\t\n\r"})


def remove_invisible(text: str) -> str:
    """The text without what nobody sees."""
    if not text.isascii():
        return INVISIBLE.sub("", text) if _UNCOMMON.search(text) else text
    data = text.encode()
    clean = data.translate(None, _CONTROLS)
    return text if len(clean) == len(data) else clean.decode()


def blank_hidden_markdown(text: str) -> str:
    """The text with spaces in place of what a page does not show of it; every place stays."""
    if "<!" in text or "~~" in text or "//]" in text:
        return _UNSHOWN.sub(lambda found: " " * len(found[0]), text)
    return text
