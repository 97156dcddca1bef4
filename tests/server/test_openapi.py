"""The OpenAPI document agrees with a running server, checked by schemathesis."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from fourscore.server.openapi import make_document
from fourscore.server.settings import Settings

from .conftest import Served, Start

TOKEN = "not-a-real-token-0123456789"


def test_openapi_document_lists_the_routes(math: Served) -> None:
    served = math.ask("GET", "/openapi.json").json
    assert served == make_document(Settings())
    assert served["openapi"] == "3.1.0"
    posts = {"/v1/rewards", "/openrlhf/reward", "/nemo_gym/verify", "/verify"}
    assert set(served["paths"]) == posts | {"/healthz", "/openapi.json", "/metrics"}
    text = str(served)
    assert "_Row" not in text
    assert "securitySchemes" not in text


def test_openapi_names_the_token_only_where_it_is_needed() -> None:
    needs_token = make_document(Settings(token=b"digest"))
    assert set(needs_token["components"]["securitySchemes"]) == {"bearer", "basic"}
    assert "401" in needs_token["paths"]["/v1/rewards"]["post"]["responses"]
    assert "401" not in needs_token["paths"]["/healthz"]["get"]["responses"]


@pytest.mark.skipif(not importlib.util.find_spec("schemathesis"), reason="needs schemathesis")
def test_reward_routes_agree_with_the_openapi_document(start: Start, tmp_path: Path) -> None:
    served = start("--judge", "math", token=TOKEN)
    # A schema cannot express two rules of OpenRLHF's body: a query begins with its prompt, and a
    # task has a reference. So bodies that the schema allows may be refused there.
    (tmp_path / "schemathesis.toml").write_text(
        '[[operations]]\ninclude-path = "/openrlhf/reward"\n'
        "checks.positive_data_acceptance.enabled = false\n"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli"),
            *("--config-file", "schemathesis.toml", "run", f"{served.url}/openapi.json"),
            *("-H", f"Authorization: Bearer {TOKEN}", "--max-examples", "20", "--seed", "1"),
            *("--phases", "examples,coverage,fuzzing", "--mode", "all", "--no-color"),
            *("--request-timeout", "10", "--suppress-health-check", "all"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in served.log.read_text()
