"""Foreign text in a message: one line, cut, and without anything that a reader would act on."""

#: Characters of a name or an id that are shown.
LONGEST = 80


def one_line(text: str, longest: int = LONGEST) -> str:
    """No control characters, no lines of its own, no end of what stands around it."""
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return cut if cut.isprintable() else repr(cut)[1:-1]
