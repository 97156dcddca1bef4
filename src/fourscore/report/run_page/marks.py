"""Where a piece of evidence stands in a text, in the units a browser counts in."""

from fourscore.core import Evidence

#: A text longer than this is not searched for a piece whose place is wrong or not given.
SEARCHED = 1 << 20


def place(evidence: Evidence, text: str) -> tuple[int, int] | None:
    """Start and end where the text says so: as given, else where it is found first."""
    piece, start = evidence.text, evidence.start
    if not piece:
        return None
    if start is not None and text.startswith(piece, start):
        return start, start + len(piece)
    start = text.find(piece, 0, SEARCHED)
    return None if start < 0 else (start, start + len(piece))


def units(text: str, places: list[int]) -> dict[int, int]:
    """Each place, counted in UTF-16 as JavaScript does."""
    if not places or text.isascii() or max(text) <= "\uffff":
        return {at: at for at in places}
    found, last, count = {}, 0, 0
    for at in sorted(set(places)):
        count += len(text[last:at].encode("utf-16-le")) // 2
        found[at], last = count, at
    return found
