"""Which pages a write-ahead log holds: https://www.sqlite.org/fileformat2.html#the_write_ahead_log

Reading the log beside SQLite is safe, as its locks are kept on another file.
"""

from pathlib import Path

HEADER = 32
FRAME_HEADER = 24


def wal_pages(path: Path, page_size: int) -> set[int]:
    """The numbers of the pages in the log's present round; what is left of older ones is not."""
    pages: set[int] = set()
    try:
        log = path.open("rb")
    except FileNotFoundError:
        return pages
    with log:
        salts = log.read(HEADER)[16:24]
        while len(frame := log.read(FRAME_HEADER)) == FRAME_HEADER and frame[8:16] == salts:
            pages.add(int.from_bytes(frame[:4], "big"))
            log.seek(page_size, 1)
    return pages
