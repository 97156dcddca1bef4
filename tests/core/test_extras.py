"""Extras: what is missing is named once, with everything that a command needs."""

import pickle

import pytest

from fourscore.core import extras
from fourscore.core.extras import MissingExtraError, MissingExtras, require_extra


@pytest.fixture(autouse=True)
def two_missing_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {"math": ("no_such_package",), "parquet": ("no_such.package",), "gepa": ("json",)}
    monkeypatch.setattr(extras, "EXTRAS", missing)


def test_installed_packages_are_accepted() -> None:
    require_extra("gepa", "--proposer gepa")


def test_missing_package_is_named_with_its_use_and_its_extra() -> None:
    with pytest.raises(MissingExtraError) as raised:
        require_extra("math", "match: equivalent")
    expected = (
        "packages are missing for match: equivalent (no_such_package): "
        "pip install 'fourscore[math]'"
    )
    assert str(raised.value) == expected
    assert str(pickle.loads(pickle.dumps(raised.value))) == expected


def test_all_missing_extras_are_named_together() -> None:
    missing = MissingExtras()
    with missing.collect():
        require_extra("parquet", "--out runs.parquet")
    with missing.collect():
        require_extra("math", "match: equivalent")
    with pytest.raises(MissingExtraError, match=r"pip install 'fourscore\[math,parquet\]'"):
        missing.raise_if_any()


def test_nothing_missing_raises_nothing() -> None:
    missing = MissingExtras()
    with missing.collect():
        require_extra("gepa", "--proposer gepa")
    missing.raise_if_any()
    assert missing.needs == {}
