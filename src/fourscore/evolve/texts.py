"""The texts of versions as files: `versions/` for those in use, `archive/` for all others.

A text is known by the digest that the log has of it: one that was changed is not taken for it.
"""

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from fourscore.core import DataError
from fourscore.evolve import files
from fourscore.evolve.history import Version

FOLDERS = ("versions", "archive")
#: Bytes of a text at the most.
LARGEST = 1_000_000


class Texts:
    def __init__(self, path: Path) -> None:
        self._path = path

    def prepare(self, number: int, text: str) -> str:
        """A new text on disk, under a hidden name; its digest."""
        data = text.encode()
        path = self._file("versions", number)
        if path.exists():
            message = "it is there, but log.jsonl does not know it: move it away"
            raise DataError(message, file=str(path))
        self.make_folders()
        files.prepare(path, data)
        return digest_of(data)

    def make_folders(self) -> None:
        for folder in FOLDERS:
            (self._path / folder).mkdir(exist_ok=True)

    def place(self, versions: Iterable[Version], kept: set[int]) -> None:
        """Each where it belongs; what was prepared and is not told of is removed."""
        self.make_folders()
        for version in versions:
            wanted, other = FOLDERS if version.number in kept else FOLDERS[::-1]
            self._settle(version, wanted, other)
        for draft in self._path.glob("versions/.*.tmp"):
            draft.unlink()

    def file_of(self, number: int) -> Path:
        for folder in FOLDERS:
            path = self._file(folder, number)
            if path.is_file():
                return path
        return self._file("versions", number)

    def read(self, version: Version) -> str:
        number = version.number
        places = [self._file(folder, number) for folder in FOLDERS]
        # To one who reads without the lock a text may be on its way: it is looked for twice.
        for place in (*places, files.draft_of(places[0]), *places):
            try:
                data = place.read_bytes()
            except FileNotFoundError:
                continue
            if digest_of(data) == version.digest:
                return data.decode()
            if place in places:
                message = f"this is not the text that version {number} was recorded with"
                hint = "restore it; a changed text is a new version"
                raise DataError(f"{message}; {hint}", file=str(place))
        message = f"the text of version {number} is missing; restore it"
        raise DataError(message, file=str(places[0]))

    def _settle(self, version: Version, wanted: str, other: str) -> None:
        path, elsewhere = (self._file(folder, version.number) for folder in (wanted, other))
        draft = files.draft_of(self._file("versions", version.number))
        if path.exists():
            return
        if elsewhere.exists():
            files.settle(elsewhere, path)
        elif draft.exists() and digest_of(draft.read_bytes()) == version.digest:
            files.settle(draft, path)

    def _file(self, folder: str, number: int) -> Path:
        return self._path / folder / f"{number:04d}.md"


def digest_of(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def check_text(text: str) -> None:
    """Refuse what is no prompt."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise DataError("expected text that is UTF-8", field="prompt") from None
    if not text.strip():
        raise DataError("expected some text", field="prompt")
    if size > LARGEST:
        raise DataError(f"{size:,} bytes, expected at most {LARGEST:,}", field="prompt")
