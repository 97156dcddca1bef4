"""`fourscore evolve step --proposer gepa`: the real package proposes, our rule decides."""

import json
import re
from pathlib import Path

import pytest
from tests.models.fake_endpoint import CannedReply, ReceivedRequest, make_completion, serve_endpoint

from fourscore.cli.main import main

pytest.importorskip("gepa")
LINE = "- Always give the price with its currency.\n"


def test_gepa_proposal_is_run_and_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert main(["evolve", "init", "--example", "evolution"]) == 0
    prompt = Path("evolution/versions/0001.md").read_text()
    better = prompt.replace("\nQuestion:", f"{LINE}\nQuestion:")

    def reflect(request: ReceivedRequest, _: int) -> CannedReply:
        asked = request.body["messages"][-1]["content"]
        number = re.search(r"\b[0-9a-f]{12}\b", asked)
        assert number is not None
        return make_completion(f"{number[0]}\n```\n{better}\n```")

    with serve_endpoint(reflect) as endpoint:
        monkeypatch.setenv("FOURSCORE_BASE_URL", endpoint.url)
        capfd.readouterr()
        code = main(
            ["evolve", "step", "--json", "--proposer", "gepa", "--model", "openai:m", "--no-cache"]
        )
    document = json.loads(capfd.readouterr().out)
    assert (code, document["decisions"]) == (0, 1), document
    second = document["lineage"][1]
    assert (second["strategy"], second["status"]) == ("gepa", "active")
    assert second["decision"]["low"] > 0
    assert Path("evolution/versions/0002.md").read_text() == better
