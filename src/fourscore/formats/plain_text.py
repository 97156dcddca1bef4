"""Text that others wrote, made safe to print on one line."""


def make_printable(text: str, longest: int = 2000) -> str:
    """Return foreign text on one line, shortened, with control characters escaped."""
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return cut if cut.isprintable() else repr(cut)[1:-1]
