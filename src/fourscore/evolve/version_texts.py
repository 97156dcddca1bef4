"""The texts of the versions: `versions/` has those in use, `archive/` all others.

The log has the digest of each text, so a text that somebody edited by hand is refused.
"""

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from fourscore.core import DataError
from fourscore.evolve import atomic_files as files
from fourscore.evolve.history import Version

FOLDERS = ("versions", "archive")
#: The most bytes of a version's text.
MAX_BYTES = 1_000_000


class VersionTexts:
    """The texts of all versions in one evolution folder."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def prepare(self, number: int, text: str) -> str:
        """Write a new text under a hidden name; return its digest."""
        data = text.encode()
        path = self._file("versions", number)
        if path.exists():
            message = "this file is not in log.jsonl: move it away"
            raise DataError(message, file=str(path))
        self.make_folders()
        files.prepare(path, data)
        return digest_text(data)

    def make_folders(self) -> None:
        for folder in FOLDERS:
            (self._path / folder).mkdir(exist_ok=True)

    def place(self, versions: Iterable[Version], kept: set[int]) -> None:
        """Move each text to its folder; remove drafts that are not in the log."""
        self.make_folders()
        for version in versions:
            wanted, other = FOLDERS if version.number in kept else FOLDERS[::-1]
            self._settle(version, wanted, other)
        for draft in self._path.glob("versions/.*.tmp"):
            draft.unlink()

    def find_file(self, number: int) -> Path:
        for folder in FOLDERS:
            path = self._file(folder, number)
            if path.is_file():
                return path
        return self._file("versions", number)

    def read(self, version: Version) -> str:
        number = version.number
        places = [self._file(folder, number) for folder in FOLDERS]
        # Another process may be moving the text right now, so both folders are tried twice.
        for place in (*places, files.get_draft_path(places[0]), *places):
            try:
                data = place.read_bytes()
            except FileNotFoundError:
                continue
            if digest_text(data) == version.digest:
                return data.decode()
            if place in places:
                message = f"this is not the text that version {number} was recorded with"
                hint = "restore it; a changed text is a new version"
                raise DataError(f"{message}; {hint}", file=str(place))
        message = f"the text of version {number} is missing; restore it"
        raise DataError(message, file=str(places[0]))

    def _settle(self, version: Version, wanted: str, other: str) -> None:
        path, elsewhere = (self._file(folder, version.number) for folder in (wanted, other))
        draft = files.get_draft_path(self._file("versions", version.number))
        if path.exists():
            return
        if elsewhere.exists():
            files.move_into_place(elsewhere, path)
        elif draft.exists() and digest_text(draft.read_bytes()) == version.digest:
            files.move_into_place(draft, path)

    def _file(self, folder: str, number: int) -> Path:
        return self._path / folder / f"{number:04d}.md"


def digest_text(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def check_text(text: str) -> None:
    """Raise a `DataError` for a text that is empty, too long or not UTF-8."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise DataError("expected text that is UTF-8", field="prompt") from None
    if not text.strip():
        raise DataError("expected some text", field="prompt")
    if size > MAX_BYTES:
        raise DataError(f"{size:,} bytes, expected at most {MAX_BYTES:,}", field="prompt")
