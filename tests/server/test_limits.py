"""Limits on tokens, addresses, sizes, times and concurrency: refusals leave the server usable."""

import base64
import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import ConfigError
from fourscore.server.auth import is_loopback, read_token
from fourscore.server.settings import Settings

from .conftest import Served, Start, ask, refused, row, until

TOKEN = "not-a-real-token-0123456789"
JUDGES = Path(__file__).with_name("judges.py")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1"])
def test_address_other_than_loopback_needs_a_token(host: str) -> None:
    with pytest.raises(ConfigError, match="needs a token"):
        Settings(host=host)


def test_command_refuses_public_address_without_token(tmp_path: Path) -> None:
    """192.0.2.1 is reserved for examples: no machine can listen on it, should the check break."""
    stderr = refused("--judge", "math", "--host", "192.0.2.1", folder=tmp_path)
    assert "needs a token" in stderr
    assert stderr.count("\n") == 1


def test_is_loopback_for_addresses_and_names() -> None:
    assert all(is_loopback(host) for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost"))
    assert not any(is_loopback(host) for host in ("0.0.0.0", "::", "192.0.2.1", ""))
    with pytest.raises(ConfigError, match="--host"):
        is_loopback("no such host")
    assert Settings(host="0.0.0.0", token=b"digest").host == "0.0.0.0"


def test_token_is_read_from_file_or_environment(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    kept = read_token(str(file), {"FOURSCORE_TOKEN": "another-token-0123456789"})
    assert kept == read_token(None, {"FOURSCORE_TOKEN": TOKEN})
    assert kept is not None
    assert TOKEN.encode() not in kept
    assert read_token(None, {}) is None
    for bad in ("", "short", " " * 40):
        file.write_text(bad)
        with pytest.raises(ConfigError, match="at least 16"):
            read_token(str(file), {})
        with pytest.raises(ConfigError, match="FOURSCORE_TOKEN"):
            read_token(None, {"FOURSCORE_TOKEN": bad})
    file.write_bytes(b"\xff" * 20)
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_token(str(file), {})
    with pytest.raises(ConfigError, match="No such file"):
        read_token(str(tmp_path / "none"), {})


def test_requests_without_the_token_get_401(start: Start) -> None:
    served = start("--judge", "math", token=TOKEN)
    basic = base64.b64encode(f"any:{TOKEN}".encode()).decode()
    good = [f"Bearer {TOKEN}", f"bearer  {TOKEN}", f"Basic {basic}"]
    for header in good:
        assert served.post(row(r"\boxed{4}"), authorization=header).rewards[0]["raw_reward"] == 1
        assert served.ask("GET", "/openapi.json", authorization=header).status == 200
    bad = ["", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", TOKEN]
    bad += [f"Basic {TOKEN}", "Basic !", f"Digest {TOKEN}", "Bearer \xe9"]
    for header in bad:
        answer = served.post(row("4"), authorization=header)
        assert (answer.status, answer.error["code"]) == (401, "unauthorized")
        assert "Bearer" in answer.headers["www-authenticate"]
    for path in ("/", "/openapi.json", "/nemo_gym/verify", "/no/such/path"):
        assert served.ask("GET", path).status == 401
    assert served.ask("GET", "/healthz").status == 200
    assert served.stop() == 0
    assert TOKEN not in served.log.read_text()
    assert basic not in served.log.read_text()


def test_token_is_checked_before_the_body_is_read(start: Start) -> None:
    served = start("--judge", "math", token=TOKEN)
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as raw:
        raw.sendall(
            b"POST /v1/rewards HTTP/1.1\r\nhost: [::1]\r\ncontent-type: application/json\r\n"
            b"content-length: 1000\r\n\r\n"
        )
        assert raw.recv(1000).startswith(b"HTTP/1.1 401 ")


def test_body_longer_than_max_body_gets_413(start: Start) -> None:
    served = start("--judge", "math", "--max-body", "1k")
    connection = served.connect()
    assert ask(connection, "POST", "/v1/rewards", row("4" * 500)).status == 200
    for body in (b" " * 1025, b" " * 1_000_000):
        answer = ask(connection, "POST", "/v1/rewards", body)
        assert (answer.status, answer.error["code"]) == (413, "too_large")
    assert ask(connection, "POST", "/v1/rewards", row("4")).status == 200  # the same connection
    connection.request(
        "POST",
        "/v1/rewards",
        iter([b" " * 600] * 3),
        {"content-type": "application/json", "transfer-encoding": "chunked"},
        encode_chunked=True,
    )
    reply = connection.getresponse()
    assert reply.status == 413
    reply.read()
    connection.close()
    assert served.post(row("4")).status == 200


def test_endless_body_is_refused_without_using_memory(start: Start) -> None:
    served = start("--judge", "math", "--max-body", "1M", "--deadline", "30")
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as raw:
        raw.sendall(
            b"POST /v1/rewards HTTP/1.1\r\nhost: [::1]\r\ncontent-type: application/json\r\n"
            b"transfer-encoding: chunked\r\n\r\n"
        )
        for _ in range(100):
            raw.sendall(b"100000\r\n" + b" " * 0x100000 + b"\r\n")
        assert raw.recv(1000).startswith(b"HTTP/1.1 413 ")
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0])
    assert peak < 150_000  # KiB; the body was a hundred MiB
    assert served.post(row("4")).status == 200


def test_body_that_does_not_arrive_in_time_gets_408(start: Start) -> None:
    served = start("--judge", "math", "--deadline", "1")
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as raw:
        raw.sendall(
            b"POST /v1/rewards HTTP/1.1\r\nhost: [::1]\r\ncontent-type: application/json\r\n"
            b"content-length: 100\r\n\r\n{"
        )
        began = time.monotonic()  # a little after the server's clock
        reply = raw.recv(1000)
        while not reply.endswith(b"}}"):  # head and body may come apart
            reply += raw.recv(1000)
        assert reply.startswith(b"HTTP/1.1 408 ")
        assert b"slow_body" in reply
        assert time.monotonic() - began > 0.5
    assert served.post(row("4")).status == 200


def test_disconnected_client_frees_its_concurrency_slot(start: Start) -> None:
    served = start("--judge", "math", "--concurrency", "1")
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", served.port), timeout=60) as raw:
            raw.sendall(
                b"POST /v1/rewards HTTP/1.1\r\nhost: [::1]\r\ncontent-type: application/json\r\n"
                b"content-length: 100\r\n\r\n{"
            )
            time.sleep(0.05)
    time.sleep(0.2)
    assert served.post(row("4")).status == 200


def test_requests_past_the_concurrency_limit_get_429(start: Start, tmp_path: Path) -> None:
    served = start("--judge", f"{JUDGES}->waiting", "--concurrency", "3")
    statuses: list[int] = []
    asked = row(f"until {tmp_path}")
    slow = [
        threading.Thread(target=lambda: statuses.append(served.post(asked).status))
        for _ in range(3)
    ]
    for thread in slow:
        thread.start()
    until(lambda: len([*tmp_path.glob("begun*")]) == 3)
    answer = served.post(row("sleep 0"))
    assert (answer.status, answer.error["code"]) == (429, "busy")
    assert int(answer.headers["retry-after"]) >= 1
    assert served.ask("GET", "/healthz").status == 200
    (tmp_path / "go").touch()
    for thread in slow:
        thread.join()
    assert statuses == [200, 200, 200]
    assert served.post(row("sleep 0")).status == 200


def send_head(served: Served, pieces: list[bytes], pause: float = 0.0) -> bytes:
    reply = b""
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as raw:
        try:
            for piece in pieces:
                raw.sendall(piece)
                time.sleep(pause)
            while more := raw.recv(10_000):
                reply += more
        except (ConnectionResetError, BrokenPipeError):
            pass
    return reply


def test_request_heads_are_limited_in_size_and_time(start: Start) -> None:
    patch = "from fourscore.server import header_limits; header_limits.HEAD_TIMEOUT = 1.0"
    served = start("--judge", "math", patch=patch)
    first = b"GET /healthz HTTP/1.1\r\n"
    endless = [first, *([b"x-a: " + b"a" * 1000 + b"\r\n"] * 3000)]
    assert send_head(served, endless)[:12] in (b"", b"HTTP/1.1 431")
    one_header = [first, b"x-a: ", *([b"a" * 10_000] * 300)]
    assert send_head(served, one_header)[:12] in (b"", b"HTTP/1.1 431")
    assert send_head(served, []).startswith(b"HTTP/1.1 408 ")
    assert send_head(served, [first]).startswith(b"HTTP/1.1 408 ")
    assert send_head(served, [first, b"x-a: b\r\n"], pause=0.3).startswith(b"HTTP/1.1 408 ")
    whole = first + b"host: [::1]\r\nconnection: close\r\n\r\n"
    pieces = [whole[i : i + 20] for i in range(0, len(whole), 20)]
    assert send_head(served, pieces, pause=0.05).startswith(b"HTTP/1.1 200 ")


def test_startup_error_is_printed_in_one_line(math: Served, tmp_path: Path) -> None:
    taken = refused("--judge", "math", "--port", str(math.port), folder=tmp_path)
    assert "cannot listen" in taken
    assert taken.count("\n") == 1
    assert "No such file" in refused("--judge", "math", "--token-file", "none", folder=tmp_path)
    assert "a CONFIG file, --judge NAME" in refused(
        "--judge", "math", "config.yaml", folder=tmp_path
    )
    for wrong in (
        ["--port", "70000"],
        ["--max-body", "0"],
        ["--deadline", "-1"],
        ["--workers", "0"],
    ):
        assert "usage:" in refused("--judge", "math", *wrong, folder=tmp_path)


def test_config_file_names_the_judge(start: Start, tmp_path: Path) -> None:
    config: dict[str, Any] = {
        "fourscore": {
            "task_judge": {"judge_protocol": "countdown", "judge_options": {"format_score": 0.2}}
        }
    }
    (tmp_path / "config.yaml").write_text(json.dumps(config))
    served = start("config.yaml", "--set", "correct_score=2.0")
    task = {"metadata": {"target": 24, "nums": [3, 8]}}
    outputs = [{"metadata": {"final_answer": rf"\boxed{{{text}}}"}} for text in ("3*8", "3+8", "x")]
    rewards = served.post({"task": task, "outputs": outputs}).rewards
    assert [reward["raw_reward"] for reward in rewards] == [2.0, 0.2, 0.0]
