"""The kind of a URL by its host: lists, registries, and URLs that disguise their host."""

import pytest

from fourscore.judges.dimensions.hosts import parse_address, rate_address, read_lists


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.cdc.gov/flu", "primary"),
        ("https://data.stats.gov.cn/x", "primary"),
        ("https://www.gov.uk/a", "primary"),
        ("https://www.soumu.go.jp/a", "primary"),
        ("https://www.service.gouv.fr", "primary"),
        ("https://web.mit.edu/a", "primary"),
        ("https://www.ox.ac.uk", "primary"),
        ("https://www.af.mil", "primary"),
        ("https://www.who.int/a", "primary"),
        ("https://doi.org/10.1038/nature14539", "primary"),
        ("https://arxiv.org/abs/1706.03762", "primary"),
        ("https://pubmed.ncbi.nlm.nih.gov/123", "primary"),
        ("https://www.iso.org/standard/1", "primary"),
        ("docs.python.org/3/", "primary"),
        ("https://en.wikipedia.org/wiki/A", "secondary"),
        ("https://web.mit.edu/~student/a", "secondary"),
        ("https://someone.github.io/", "secondary"),
        ("https://someone.blogspot.com/a", "unreliable"),
        ("https://www.academia.edu/1", "unreliable"),
        ("https://bit.ly/abc", "unreliable"),
        ("https://doi.org/10.1234/made-up", "unreliable"),
        ("https://no-list-knows-me.io/a", None),
        ("https://go.it/a", None),
    ],
)
def test_rates_known_hosts_and_leaves_others_unknown(url: str, kind: str | None) -> None:
    assert rate_address(url).kind == kind


@pytest.mark.parametrize(
    "url",
    [
        "https://nasa.gov.evil.com/a",
        "https://nasa.gov@evil.com/a",
        "https://nasa.gov%2eevil.com/",
        "https://evil.com\\@nasa.gov/",
        "https://evil.com/?u=https://nasa.gov",
        "https://evil.com#nasa.gov",
        "https://whitehouse-gov.org/a",
        "https://whо.int/a",  # a Cyrillic letter
        "https://xn--wh-emc.int/a",
        "https://192.168.0.1/gov",
        "https://[::1]/a",
        "http://2130706433/",
        "https://gov/",
        "https://gov.uk.co/",
        "ftp://nasa.gov/a",
        "javascript:nasa.gov",
        "https://",
        "",
    ],
)
def test_a_disguised_host_is_never_primary(url: str) -> None:
    assert rate_address(url).kind in (None, "unreliable")


def test_own_lists_win_over_the_shipped_one() -> None:
    primary = ("reddit.com/r/a", "https://wiki.corp.local:8080/", "*.ours.io")
    lists = (primary, (), ("who.int",))
    assert rate_address("https://www.reddit.com/r/a/b", lists).kind == "primary"
    assert rate_address("https://www.reddit.com/r/abc", lists).kind == "unreliable"
    assert rate_address("http://wiki.corp.local:8080/page", lists).kind == "primary"
    assert rate_address("https://docs.ours.io", lists).kind == "primary"
    assert rate_address("https://ours.io", lists).kind is None
    assert rate_address("https://www.who.int/a", lists).kind == "unreliable"
    assert rate_address("https://wiki.corp.local@evil.com/", lists).kind != "primary"


def test_refuses_malformed_and_contradicting_host_lists() -> None:
    with pytest.raises(
        ValueError, match=r"'https://a\.io/' is listed as primary and as unreliable"
    ):
        read_lists((("a.io",), (), ("https://a.io/",)))
    with pytest.raises(ValueError, match="primary: ' ' is no host"):
        read_lists(((" ",), (), ()))


def test_parses_a_url() -> None:
    assert parse_address("https://WWW.Example.org:8443/A?x#y")[:2] == ("example.org", "/a")
