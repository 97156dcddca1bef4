"""`fourscore cache`, and what a run keeps of an endpoint that was broken."""

import json
from pathlib import Path

import pytest
from tests.models.fake_endpoint import CannedReply, ReceivedRequest, make_completion, serve_endpoint

from .command import run_fourscore as fourscore

PARTS = ["--cases", "cases.jsonl", "--rubric", "rubric.yaml", "--agent", "scripted:It is blue."]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOURSCORE_CACHE", str(tmp_path / "cache" / "replies.sqlite"))
    rubric = (
        "dimensions:\n  c: {judge: criteria, with: {model: 'openai:m', form: brief, criteria: [x]}}"
    )
    Path("rubric.yaml").write_text(rubric)
    rows = [json.dumps({"id": f"c{n}", "input": f"task {n}"}) for n in range(4)]
    Path("cases.jsonl").write_text("\n".join(rows))
    return tmp_path


def test_replies_of_a_broken_endpoint_do_not_come_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = True

    def script(request: ReceivedRequest, number: int) -> CannedReply:
        return make_completion("<html>Bad gateway</html>" if broken else "yes")

    def run(code: int) -> dict[str, int]:
        done = fourscore("run", *PARTS, "--json")
        assert done.returncode == code, done.stderr
        statuses: dict[str, int] = json.loads(done.stdout)["statuses"]
        return {name: n for name, n in statuses.items() if n}

    with serve_endpoint(script) as endpoint:
        monkeypatch.setenv("FOURSCORE_BASE_URL", endpoint.url)
        assert run(3) == {"judge_error": 4}
        assert json.loads(fourscore("cache", "info", "--json").stdout)["replies"] == 0
        broken = False
        assert run(0) == {"scored": 4}
        asked = len(endpoint.requests)
        assert run(0) == {"scored": 4}
        assert len(endpoint.requests) == asked
        done = fourscore("run", *PARTS)
        assert "m: 0 calls (0 failed), 4 from the cache" in done.stdout
        assert fourscore("cache", "clear").stdout.startswith("removed 4 replies from ")
        assert run(0) == {"scored": 4}
        assert len(endpoint.requests) == asked + 4


def test_prints_where_the_cache_is_and_what_it_holds(folder: Path) -> None:
    shown = fourscore("cache", "info").stdout
    assert f"file     {folder / 'cache' / 'replies.sqlite'} (it does not exist yet)\n" in shown
    assert "content  0 replies" in shown
    assert not (folder / "cache").exists()
    document = json.loads(fourscore("cache", "clear", "other.sqlite", "--json").stdout)
    assert document["action"] == "clear"
    assert (document["path"], document["exists"], document["replies"]) == ("other.sqlite", False, 0)


def test_file_that_is_no_cache_is_refused(folder: Path) -> None:
    Path("notes.txt").write_text("precious")
    done = fourscore("cache", "clear", "notes.txt", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["file"] == "notes.txt"
    assert "notes.txt: it cannot be used as a cache of fourscore" in done.stderr
    assert Path("notes.txt").read_text() == "precious"
    assert fourscore("cache").returncode == 2
