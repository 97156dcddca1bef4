"""What happens at once is fitted to the files that a process may open."""

import resource

import pytest

from fourscore.core.open_files import fit_to_open_files

NO_LIMIT = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("limits", "most", "files", "expected", "raised"),
    [
        ((1024, 4096), 64, 3, 64, None),
        ((64, 64), 64, 3, 5, (64, 64)),
        ((64, 64), 64, 11, 1, (64, 64)),
        ((8, 8), 64, 11, 1, (8, 8)),
        ((256, 4096), 128, 3, 128, (1536, 4096)),
        ((256, 1200), 128, 3, 100, (1200, 1200)),
        ((256, NO_LIMIT), 128, 3, 128, (1536, NO_LIMIT)),
        ((NO_LIMIT, NO_LIMIT), 128, 3, 128, None),
    ],
)
def test_fit_to_open_files(
    monkeypatch: pytest.MonkeyPatch,
    limits: tuple[int, int],
    most: int,
    files: int,
    expected: int,
    raised: tuple[int, int] | None,
) -> None:
    found: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda which: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda which, pair: found.append(pair))
    assert fit_to_open_files(most, files) == expected
    assert found == ([] if raised is None else [raised])
