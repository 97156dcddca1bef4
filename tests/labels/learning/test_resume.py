"""A killed learning run resumes and pays for nothing twice, with real processes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.labels.learning import planted
from tests.models.fake_endpoint import CannedReply, ReceivedRequest, make_completion, serve_endpoint

FOURSCORE = str(Path(sys.executable).with_name("fourscore"))
AT_A_TIME = 4


def script(request: ReceivedRequest, _: int) -> CannedReply:
    reply = planted.reply(request.body["messages"][1]["content"])
    return make_completion(json.dumps(reply))._replace(delay=0.004)


def started(folder: Path, url: str, *more: str) -> "subprocess.Popen[str]":
    words = ["rubric", "learn", "--data", "train.jsonl", "--model", "openai:small"]
    words += ["--base-url", url, "--out", "out.yaml", "--concurrency", str(AT_A_TIME), *more]
    environment = {**os.environ, "FOURSCORE_CACHE": str(folder / "cache.sqlite")}
    return subprocess.Popen(
        [FOURSCORE, *words],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("cache", [(), ("--no-cache",)])
def test_killed_run_resumes_without_paying_twice(tmp_path: Path, cache: tuple[str, ...]) -> None:
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
        planted.write(tmp_path / name / "train.jsonl", planted.rows(60))
    with serve_endpoint(script) as endpoint:
        done = started(tmp_path / "whole", endpoint.url, *cache)
        assert done.communicate()[0].startswith("learned")
        whole = len(endpoint.requests)
    forget = tmp_path / "killed"
    with serve_endpoint(script) as endpoint:
        kills = 0
        for _ in range(3):
            process = started(forget, endpoint.url, *cache)
            before = len(endpoint.requests)
            while process.poll() is None and len(endpoint.requests) < before + whole // 5:
                time.sleep(0.005)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.communicate()
        assert kills >= 2
        process = started(forget, endpoint.url, *cache)
        _, err = process.communicate()
        assert process.returncode == 0, err
        assert "resuming: " in err
        # Only what was under way when it was killed may have been asked for in vain.
        assert whole <= len(endpoint.requests) <= whole + kills * AT_A_TIME
        asked = [json.dumps(request.body, sort_keys=True) for request in endpoint.requests]
        assert len(asked) - len(set(asked)) <= kills * AT_A_TIME
        assert endpoint.most <= AT_A_TIME
    one, two = ((tmp_path / name / "out.yaml").read_text() for name in ("whole", "killed"))
    assert _decided(one) == _decided(two)


def _decided(text: str) -> Any:
    """All but the address in it, and the cost, of which a kill leaves some unknown."""
    kept = [line for line in text.splitlines() if "127.0.0.1" not in line]
    kept = [line for line in kept if "fingerprint" not in line]
    body = "\n".join(kept)
    return body[: body.index("  cost:")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_stops_learning_and_prints_the_command_that_goes_on(
    number: signal.Signals, tmp_path: Path
) -> None:
    planted.write(tmp_path / "train.jsonl", planted.rows(60))
    with serve_endpoint(script) as endpoint:
        process = started(tmp_path, endpoint.url)
        while len(endpoint.requests) < 20:
            time.sleep(0.005)
        process.send_signal(number)
        _, err = process.communicate()
    assert process.returncode == 130
    assert "to go on: fourscore rubric learn --data train.jsonl" in err
    assert "Traceback" not in err
    assert not (tmp_path / "out.yaml").exists()
    assert (tmp_path / "out.yaml.journal.jsonl").exists()
