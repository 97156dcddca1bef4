"""Headers that are refused: another server's name, a header twice, an unknown encoding."""

import gzip
import json
import socket
import zlib
from pathlib import Path
from typing import Any

import pytest

from fourscore.server.messages import Refusal
from fourscore.server.openapi import TRACES
from fourscore.server.request_headers import HostCheck
from fourscore.server.reward_routes import REWARD_ROUTES
from fourscore.server.settings import Settings

from .conftest import Served, Start, refused, row

TOKEN = "not-a-real-token-0123456789"
OWN = ["localhost", "LOCALHOST:8712", "127.0.0.1", "127.0.0.1:1", "127.9.9.9", "[::1]:8712"]
OTHERS = ["evil.example", "evil.example:8712", "localhost.evil.example", "127.0.0.1.nip.io", ""]
OTHERS += ["192.0.2.1", "[::2]", "[::1", "localhost@evil.example", "0.0.0.0", "x, localhost"]


def send(served: Served, *headers: str, path: str = "/v1/rewards", body: bytes = b"") -> int:
    """Return the status of a request with exactly these header lines."""
    method = "POST" if body else "GET"
    lines = [f"{method} {path} HTTP/1.1", *headers, "connection: close"]
    if body:
        lines.append(f"content-length: {len(body)}")
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as raw:
        raw.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        return int(raw.makefile("rb").readline().split()[1])


def test_server_without_token_answers_only_to_its_own_names(math: Served) -> None:
    """A web page whose name resolves to 127.0.0.1 (DNS rebinding) sends its own name as Host."""
    for path in ("/healthz", "/openapi.json", "/metrics"):
        for host in OWN:
            assert send(math, f"host: {host}", path=path) == 200, host
        for host in OTHERS:
            assert send(math, f"host: {host}", path=path) == 421, host
        assert send(math, path=path) == 421
    for path in REWARD_ROUTES:
        body, kind = json.dumps(row("4")).encode(), "content-type: application/json"
        assert send(math, "host: evil.example", kind, path=path, body=body) == 421
    answer = math.ask("GET", "/healthz", host="evil.example")
    assert answer.error["code"] == "wrong_host"
    assert "--allowed-host" in answer.error["message"]


def test_allowed_hosts_are_answered_too(start: Start) -> None:
    served = start("--judge", "math", "--allowed-host", "Judge.example", "--allowed-host", "a-b")
    for host in (*OWN, "judge.EXAMPLE:80", "a-b"):
        assert send(served, f"host: {host}", path="/healthz") == 200
    assert send(served, "host: b", path="/healthz") == 421


def test_server_with_token_answers_to_any_name_unless_names_are_given(start: Start) -> None:
    served = start("--judge", "math", token=TOKEN)
    assert send(served, "host: judge.example", path="/healthz") == 200
    named = start("--judge", "math", "--allowed-host", "judge.example", token=TOKEN)
    assert send(named, "host: judge.example", path="/healthz") == 200
    assert send(named, "host: evil.example", path="/healthz") == 421


def test_name_given_as_host_is_its_own() -> None:
    check = HostCheck(Settings(host="127.0.0.1", allowed_hosts=("box",))).check
    check({b"host": b"box:1"})
    with pytest.raises(Refusal):
        check({b"host": b"other"})
    with pytest.raises(Refusal):
        check({})


def test_allowed_host_is_a_plain_name(tmp_path: Path) -> None:
    for wrong in ("*", "a:80", "http://a", ""):
        stderr = refused("--judge", "math", "--allowed-host", wrong, folder=tmp_path)
        assert "without port or wildcard" in stderr


@pytest.mark.parametrize("first", ["right", "wrong"])
def test_two_authorization_headers_get_400(start: Start, first: str) -> None:
    served = start("--judge", "math", token=TOKEN)
    right, wrong = f"authorization: Bearer {TOKEN}", "authorization: Bearer x"
    both = [right, wrong] if first == "right" else [wrong, right]
    assert send(served, "host: localhost", *both, path="/openapi.json") == 400
    assert send(served, "host: localhost", right, right, path="/openapi.json") == 400
    assert send(served, "host: localhost", right, path="/openapi.json") == 200


@pytest.mark.parametrize(
    "line",
    [
        "host: localhost",
        "content-type: application/json",
        "content-length: 2",
        "content-encoding: gzip",
        "transfer-encoding: chunked",
    ],
)
def test_header_that_came_twice_gets_400(math: Served, line: str) -> None:
    others = {"host: localhost", "content-type: application/json"} - {line}
    assert send(math, *others, line, line, body=b"{}") == 400


def gzipped(body: Any) -> bytes:
    return gzip.compress(json.dumps(body).encode())


def test_compressed_bodies_are_read_on_every_route(math: Served) -> None:
    body = row(r"\boxed{4}")
    for coding in ("gzip", "x-gzip", " GZIP "):
        answer = math.post(gzipped(body), content_encoding=coding)
        assert answer.rewards[0]["raw_reward"] == 1.0
    deflated = zlib.compress(json.dumps(body).encode())
    assert math.post(deflated, content_encoding="deflate").rewards[0]["raw_reward"] == 1.0
    assert math.post(body, content_encoding="identity").rewards[0]["raw_reward"] == 1.0
    query = {"query": [r"Q \boxed{4}"], "prompts": ["Q "], "labels": ["4"]}
    answer = math.post(gzipped(query), "/openrlhf/reward", content_encoding="gzip")
    assert answer.json["rewards"] == [1.0]
    for path in REWARD_ROUTES:
        answer = math.post(gzipped([]), path, content_encoding="gzip")
        assert (answer.status, answer.error["code"]) == (400, "bad_request")
        assert "gzip" not in answer.error["message"]  # it was read, and is no object


def test_unknown_or_wrong_encodings_are_refused_on_every_route(start: Start) -> None:
    served = start("--judge", "math", "--monitor", "monitor.db")
    for path in (*REWARD_ROUTES, TRACES):
        for coding in ("br", "zstd", "gzip, gzip", "gzip;q=1", "compress"):
            answer = served.post(b"{}", path, content_encoding=coding)
            assert answer.status == 415, (path, coding)
            assert answer.headers["accept-encoding"] == "gzip, deflate"
        for body in (b"{}", gzip.compress(b"{}")[:-1], gzip.compress(b"{}") + b"x"):
            assert served.post(body, path, content_encoding="gzip").status == 400
    assert served.post(b"{}", content_encoding="br").error["code"] == "unknown_encoding"


def test_decompressed_body_is_bounded_by_max_body(start: Start) -> None:
    """64 MiB of zeros are 64 KiB of gzip."""
    served = start("--judge", "math", "--max-body", "1M", "--monitor", "monitor.db")
    bomb = gzip.compress(bytes(64 << 20), 9)
    members = gzip.compress(bytes(600_000)) * 2
    for path in (*REWARD_ROUTES, TRACES):
        for body in (bomb, members):
            answer = served.post(body, path, content_encoding="gzip")
            assert answer.status == 413
            assert b"longer than 1048576 bytes" in answer.body
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    assert int(status.partition("VmHWM:")[2].split()[0]) < 200_000  # KiB
    assert served.post(row("4")).status == 200
