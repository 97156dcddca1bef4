"""The HTTP client against byte servers, TLS servers and proxies, all on loopback."""

import asyncio
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import ConfigError
from fourscore.models import http_client, http_session
from fourscore.models.http_client import (
    HttpClient,
    HttpError,
    HttpResponse,
    ReplyTooLongError,
    find_proxy,
)

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def no_proxy_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.001)


class ByteServer:
    """Answers each request with the next of `replies`; keeps requests, counts connections."""

    def __init__(self, *replies: bytes, closes: bool = False) -> None:
        self.replies, self.closes = list(replies), closes
        self.requests: list[bytes] = []
        self.connections = self.closed = 0
        self.writer: asyncio.StreamWriter | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writer = writer
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                self.requests.append(head + await reader.readexactly(size))
                if not self.replies:
                    await reader.read()  # and never a reply
                    break
                writer.write(self.replies.pop(0))
                await writer.drain()
                if self.closes and not self.replies:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        self.closed += 1

    async def wait_closed(self) -> None:
        """Wait until all its connections are closed."""
        await wait_until(lambda: self.closed == self.connections)


@asynccontextmanager
async def serve_bytes(server: ByteServer, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve on a free port of loopback, which is yielded."""
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()


@asynccontextmanager
async def open_client(server: ByteServer, path: str = "", **more: Any) -> AsyncIterator[HttpClient]:
    async with serve_bytes(server) as port:
        client = HttpClient(f"http://127.0.0.1:{port}{path}", **more)
        try:
            yield client
        finally:
            await client.close()
            await server.wait_closed()


def post_times(server: ByteServer, times: int = 1) -> list[Any]:
    """Post one after the other; return responses and errors."""

    async def main() -> list[Any]:
        async with open_client(server) as client:
            results: list[Any] = []
            for number in range(times):
                try:
                    results.append(await client.post(b"%d" % number))
                except HttpError as error:
                    results.append(error)
            return results

    return asyncio.run(main())


@pytest.mark.parametrize(
    "reply",
    [
        OK,
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\nLink: a\r\n\r\n" + OK,
    ],
    ids=["length", "chunked", "informational"],
)
def test_reads_reply_and_reuses_connection(reply: bytes) -> None:
    server = ByteServer(reply, reply)
    one, two = post_times(server, 2)
    assert (one.status, one.body) == (two.status, two.body) == (200, b"hi")
    assert server.connections == 1


@pytest.mark.parametrize("head", [b"", b"Connection: close\r\n"])
def test_reply_without_length_ends_with_its_connection(head: bytes) -> None:
    server = ByteServer(b"HTTP/1.1 200 OK\r\n" + head + b"\r\nhello", closes=True)
    (response,) = post_times(server)
    assert response == HttpResponse(200, response.headers, b"hello")


def test_connection_close_header_ends_reuse() -> None:
    server = ByteServer(*[OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")] * 3)
    assert [response.body for response in post_times(server, 3)] == [b"hi"] * 3
    assert server.connections == 3


def test_opens_new_connection_when_server_has_closed_the_idle_one() -> None:
    async def main() -> None:
        server = ByteServer(OK, closes=True)
        async with open_client(server) as client:
            assert (await client.post(b"1")).body == b"hi"
            await server.wait_closed()
            server.replies.append(OK)
            assert (await client.post(b"2")).body == b"hi"
            assert server.connections == 2

    asyncio.run(main())


class ClosingServer(ByteServer):
    """Answers the first request of all; then closes each kept connection upon its next request."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        answered = 0
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            self.requests.append(head + await reader.readexactly(size))
            if answered or not self.replies:
                break
            writer.write(self.replies.pop(0))
            answered += 1
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        self.closed += 1


def test_sends_again_once_when_kept_connection_turns_out_stale() -> None:
    server = ClosingServer(OK, OK.replace(b"hi", b"yo"))
    one, two = post_times(server, 2)
    assert (one.body, two.body) == (b"hi", b"yo")
    assert [request[-1:] for request in server.requests] == [b"0", b"1", b"1"]
    assert server.connections == 2


def test_does_not_send_again_when_a_new_connection_is_closed() -> None:
    server = ClosingServer(OK)
    one, two = post_times(server, 2)
    assert one.body == b"hi"
    assert "closed before an answer" in str(two)
    assert len(server.requests) == 3  # the second post: on the stale connection and on a new one
    server = ClosingServer()
    (error,) = post_times(server)
    assert "closed before an answer" in str(error)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        OK + OK,  # a whole reply too many
        OK + b"HTTP/1.1 200 OK\r\nContent-Le",
        OK + b"\x00nonsense",
    ],
    ids=["whole", "begun", "nonsense"],
)
def test_second_reply_is_never_taken_for_the_next_request(reply: bytes) -> None:
    server = ByteServer(reply, OK.replace(b"hi", b"yo"))
    one, two = post_times(server, 2)
    assert isinstance(one, HttpError) or one.body == b"hi"
    assert two.body == b"yo"


@pytest.mark.parametrize("unsolicited", [OK.replace(b"hi", b"no"), b"\x00nonsense"])
def test_drops_connection_that_sends_unsolicited_data(unsolicited: bytes) -> None:
    async def main() -> None:
        server = ByteServer(OK)
        async with open_client(server) as client:
            assert (await client.post(b"1")).body == b"hi"
            assert server.writer is not None
            server.writer.write(unsolicited)
            await server.writer.drain()
            await asyncio.sleep(0.05)
            server.replies.append(OK.replace(b"hi", b"yo"))
            assert (await client.post(b"2")).body == b"yo"
            assert server.connections == 2

    asyncio.run(main())


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (b"", "closed before an answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "in the middle of an answer"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhal", "in the middle"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "closed before"),
        (b"220 smtp ready\r\n\r\n", "the reply is not HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "the reply is not HTTP"),
        (b"HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "the reply is not HTTP"),
        (OK.replace(b"\r\n\r\n", b"\r\nContent-Encoding: br\r\n\r\n"), "compressed"),
    ],
)
def test_incomplete_or_foreign_reply_is_an_error(reply: bytes, message: str) -> None:
    (error,) = post_times(ByteServer(reply, closes=True))
    assert type(error) is HttpError
    assert message in str(error)
    assert error.connected


def test_redirect_is_returned_and_not_followed() -> None:
    redirect = b"HTTP/1.1 307 X\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
    server = ByteServer(redirect, OK)
    (response,) = post_times(server)
    assert (response.status, response.header("location")) == (307, "/elsewhere")
    assert len(server.requests) == 1


def find_free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def post_and_close(client: HttpClient) -> HttpResponse:
    async def main() -> HttpResponse:
        try:
            return await client.post(b"")
        finally:
            await client.close()

    return asyncio.run(main())


def test_refused_connection_may_be_retried() -> None:
    with pytest.raises(HttpError, match="no connection") as caught:
        post_and_close(HttpClient(f"http://127.0.0.1:{find_free_port()}"))
    assert (caught.value.connected, caught.value.permanent) == (False, False)


def test_unknown_host_is_named_by_the_resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    async def main() -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", fail)
        client = HttpClient("http://nowhere.example/")
        try:
            await client.post(b"")
        finally:
            await client.close()

    with pytest.raises(HttpError, match="Name or service not known") as caught:
        asyncio.run(main())
    assert not caught.value.connected


def test_connect_timeout_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(*_: Any, **__: Any) -> Any:
        await asyncio.Event().wait()

    async def main() -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", hang)
        client = HttpClient("http://127.0.0.1:9/", connect_timeout=0.05)
        try:
            await client.post(b"")
        finally:
            await client.close()

    with pytest.raises(HttpError, match=r"no connection within 0\.05 s") as caught:
        asyncio.run(main())
    assert not caught.value.connected


def test_tries_the_next_address_of_a_host_when_one_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> bytes:
        server = ByteServer(OK)
        async with serve_bytes(server) as port:
            loop = asyncio.get_running_loop()
            kinds = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "")

            async def resolve(*_: Any, **__: Any) -> Any:
                return [(*kinds, ("192.0.2.1", port)), (*kinds, ("127.0.0.1", port))]

            connect = loop.sock_connect

            async def hang_on_first(sock: socket.socket, address: Any) -> None:
                if address[0] == "192.0.2.1":
                    await asyncio.Event().wait()
                await connect(sock, address)

            monkeypatch.setattr(loop, "getaddrinfo", resolve)
            monkeypatch.setattr(loop, "sock_connect", hang_on_first)
            client = HttpClient(f"http://two.example:{port}/")
            response = await client.post(b"1")
            await client.close()
            return response.body

    assert asyncio.run(main()) == b"hi"


@pytest.mark.parametrize(
    "head", [b"Content-Length: 2000\r\n\r\n", b"\r\n", b"transfer-encoding: chunked\r\n\r\n7d0\r\n"]
)
def test_refuses_reply_over_the_size_limit(head: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "MAX_REPLY_BYTES", 500)
    (error,) = post_times(ByteServer(b"HTTP/1.1 200 OK\r\n" + head + b"x" * 2000, closes=True))
    assert type(error) is ReplyTooLongError


def test_sends_quoted_path_headers_and_body() -> None:
    server = ByteServer(OK, OK)

    async def main() -> None:
        async with open_client(server, "/a b/é?q=1&r=a%20b", headers={"X-Key": "k"}) as client:
            await client.post(b'{"a": 1}')
            await client.post(b"", "verb")

    asyncio.run(main())
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    assert first == "POST /a%20b/%C3%A9?q=1&r=a%20b HTTP/1.1"
    headers = {name.lower(): text for name, text in (line.split(": ", 1) for line in rest)}
    assert headers["host"].startswith("127.0.0.1:")
    assert (headers["content-type"], headers["accept-encoding"]) == ("application/json", "identity")
    assert (headers["content-length"], headers["x-key"]) == ("8", "k")
    assert body == b'{"a": 1}'
    assert server.requests[1].startswith(b"POST /a%20b/%C3%A9/verb?q=1&r=a%20b HTTP/1.1\r\n")


def test_given_header_replaces_the_default_in_any_case() -> None:
    server = ByteServer(OK)

    async def main() -> None:
        async with open_client(server, headers={"USER-AGENT": "mine"}) as client:
            await client.post(b"")

    asyncio.run(main())
    assert server.requests[0].lower().count(b"user-agent: mine\r\n") == 1
    assert b"fourscore" not in server.requests[0]


def test_password_in_the_address_becomes_a_header() -> None:
    async def main() -> bytes:
        server = ByteServer(OK)
        async with serve_bytes(server) as port:
            client = HttpClient(f"http://me:p%40ss@127.0.0.1:{port}")
            await client.post(b"")
            await client.close()
        return server.requests[0]

    request = asyncio.run(main())
    assert b"authorization: basic bwu6ceBzcw==\r\n".lower() in request.lower()
    assert b"p%40ss" not in request


def test_host_in_other_letters_is_encoded() -> None:
    assert HttpClient("http://bücher.example:81/")._origin == "http://xn--bcher-kva.example:81"


def test_impossible_host_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot be the name of a host"):
        HttpClient(f"http://{'ü' * 80}.example/")


@pytest.mark.parametrize("text", ["a\r\nX: y", "a\nb", "a\x00"])
def test_refuses_header_of_several_lines_without_showing_it(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        HttpClient("http://127.0.0.1", {"X-Key": text})
    assert text not in str(caught.value)


def test_cancelled_post_closes_its_connection() -> None:
    async def main() -> None:
        server = ByteServer()
        async with open_client(server) as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await client.post(b"1")
            await server.wait_closed()
            server.replies.append(OK)
            assert (await client.post(b"2")).body == b"hi"
            assert server.connections == 2

    asyncio.run(main())


def test_concurrent_posts_each_get_their_own_reply() -> None:
    connections: list[Any] = []

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(reader)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                body = await reader.readexactly(size)
                await asyncio.sleep(int(body) % 7 / 1000)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (size, body))
        except asyncio.IncompleteReadError:
            writer.close()

    async def main() -> None:
        listener = await asyncio.start_server(echo, "127.0.0.1", 0)
        client = HttpClient(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}")

        async def post_several(worker: int) -> None:
            for number in range(worker, 500, 20):
                assert (await client.post(b"%d" % number)).body == b"%d" % number

        await asyncio.gather(*map(post_several, range(20)))
        assert len(connections) <= 20
        await client.close()
        listener.close()

    asyncio.run(main())


class Certificates:
    """Files of an authority and of a server's certificate for localhost."""

    def __init__(self, folder: Path) -> None:
        import trustme

        self.authority, self.server = folder / "authority.pem", folder / "server.pem"
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.authority)
        issued = authority.issue_cert("localhost")
        issued.private_key_and_cert_chain_pem.write_to_path(self.server)

    def make_server_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.server)
        return context


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def trusted(certificates: Certificates, monkeypatch: pytest.MonkeyPatch) -> Certificates:
    """Certificates whose authority SSL_CERT_FILE names."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates.authority))
    monkeypatch.setattr(
        http_session, "_make_tls_context", http_session._make_tls_context.__wrapped__
    )
    return certificates


async def use_tls_server(
    certificates: Certificates, use: Callable[[HttpClient, ByteServer], Awaitable[Any]]
) -> Any:
    server = ByteServer(OK, OK)
    async with serve_bytes(server, certificates.make_server_context()) as port:
        client = HttpClient(f"https://localhost:{port}/", {"Authorization": "Bearer the-key"})
        try:
            return await use(client, server)
        finally:
            await client.close()
            await server.wait_closed()


async def post_twice(client: HttpClient, server: ByteServer) -> list[bytes]:
    bodies = [(await client.post(b"1")).body, (await client.post(b"2")).body]
    assert server.connections == 1
    assert b"authorization: bearer the-key" in server.requests[0].lower()
    return bodies


def test_trusts_the_authority_of_ssl_cert_file(trusted: Certificates) -> None:
    assert asyncio.run(use_tls_server(trusted, post_twice)) == [b"hi", b"hi"]


def test_unknown_certificate_is_refused_permanently(certificates: Certificates) -> None:
    async def post(client: HttpClient, _: ByteServer) -> HttpError:
        with pytest.raises(HttpError, match="certificate") as caught:
            await client.post(b"1")
        return caught.value

    error = asyncio.run(use_tls_server(certificates, post))
    assert (error.connected, error.permanent) == (False, True)


class Proxy:
    """An HTTP proxy: tunnels CONNECT, forwards other requests. `heads` has what it was sent."""

    def __init__(self, refusal: bytes = b"") -> None:
        self.refusal = refusal
        self.heads: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head.decode())
        method, target, _ = head.decode().split("\r\n")[0].split(" ")
        if self.refusal:
            writer.write(self.refusal)
        else:
            place = target if method == "CONNECT" else target.split("/")[2]
            host, _, port = place.rpartition(":")
            there, out = await asyncio.open_connection(host, int(port))
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                out.write(head)
            await asyncio.gather(_copy(reader, out), _copy(there, writer))
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while block := await reader.read(65536):
            writer.write(block)
    writer.close()


@asynccontextmanager
async def serve_proxy(proxy: Proxy) -> AsyncIterator[int]:
    listener = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()


def test_https_goes_through_a_connect_proxy_without_the_key(
    trusted: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = Proxy()

    async def main() -> None:
        async with serve_proxy(proxy) as port:
            monkeypatch.setenv("HTTPS_PROXY", f"http://me:pa%40ss@127.0.0.1:{port}")
            assert await use_tls_server(trusted, post_twice) == [b"hi", b"hi"]

    asyncio.run(main())
    (head,) = proxy.heads
    assert head.startswith("CONNECT localhost:")
    assert "proxy-authorization: basic bwu6cgfac3m=" in head.lower()
    assert "the-key" not in head
    assert "\r\nAuthorization" not in head


def test_http_goes_through_a_plain_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, server = Proxy(), ByteServer(OK, OK)

    async def main() -> None:
        async with serve_proxy(proxy) as port:
            monkeypatch.setenv("ALL_PROXY", f"127.0.0.1:{port}")
            async with open_client(server, "/v1") as client:
                assert (await client.post(b"1")).body == b"hi"
                assert (await client.post(b"2")).body == b"hi"

    asyncio.run(main())
    (head,) = proxy.heads
    assert head.startswith("POST http://127.0.0.1:")
    assert len(server.requests) == 2


@pytest.mark.parametrize("bypass", ["127.0.0.1", "example.com,127.0.0.1", "*"])
def test_no_proxy_bypasses_the_proxy(bypass: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, server = Proxy(), ByteServer(OK)

    async def main() -> None:
        async with serve_proxy(proxy) as port:
            monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
            monkeypatch.setenv("NO_PROXY", bypass)
            async with open_client(server) as client:
                assert (await client.post(b"1")).body == b"hi"

    asyncio.run(main())
    assert proxy.heads == []


@pytest.mark.parametrize(("status", "permanent"), [(407, True), (403, True), (502, False)])
def test_proxy_that_refuses_the_tunnel_is_named_without_its_password(
    status: int, permanent: bool, trusted: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = Proxy(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status)

    async def post(client: HttpClient, _: ByteServer) -> HttpError:
        with pytest.raises(HttpError) as caught:
            await client.post(b"1")
        return caught.value

    async def main() -> tuple[HttpError, int]:
        async with serve_proxy(proxy) as port:
            monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@127.0.0.1:{port}")
            return await use_tls_server(trusted, post), port

    error, port = asyncio.run(main())
    assert f"the proxy 127.0.0.1:{port} answered {status}" in str(error)
    assert (error.connected, error.permanent) == (False, permanent)
    assert "secret" not in str(error)


def test_unreachable_proxy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    port = find_free_port()
    monkeypatch.setenv("HTTP_PROXY", f"http://me:secret@127.0.0.1:{port}")
    with pytest.raises(HttpError, match=f"the proxy 127.0.0.1:{port}") as caught:
        post_and_close(HttpClient("http://service.example/"))
    assert (caught.value.connected, caught.value.permanent) == (False, False)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("variables", "scheme", "host", "proxy"),
    [
        ({}, "https", "a.example", None),
        ({"HTTPS_PROXY": "http://p:1"}, "https", "a.example", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1"}, "http", "a.example", None),
        ({"HTTPS_PROXY": "http://p:1", "ALL_PROXY": "http://q:2"}, "http", "a", "http://q:2"),
        ({"ALL_PROXY": "http://q:2", "NO_PROXY": ".example"}, "http", "a.example:81", None),
        ({"ALL_PROXY": "http://q:2", "NO_PROXY": "b.example"}, "http", "a.example", "http://q:2"),
        ({"HTTPS_PROXY": "p:1"}, "https", "a.example", "http://p:1"),
    ],
)
def test_finds_the_proxy_for_a_host(
    variables: dict[str, str],
    scheme: str,
    host: str,
    proxy: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    assert find_proxy(scheme, host) == proxy


def test_refuses_a_socks_proxy_before_the_first_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1080")
    with pytest.raises(ConfigError, match="socks5: expected http"):
        HttpClient("https://a.example/")


def test_netrc_does_not_replace_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password other\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    server = ByteServer(OK)

    async def main() -> None:
        async with open_client(server, headers={"Authorization": "Bearer the-key"}) as client:
            await client.post(b"")

    asyncio.run(main())
    assert b"authorization: bearer the-key\r\n" in server.requests[0].lower()


def test_exit_with_open_connections_prints_nothing() -> None:
    """As after blocking use: the portal's loop is never closed, and neither are its connections."""
    code = (
        "from fourscore.executors.portal import PORTAL\n"
        "from fourscore.models.messages import ChatMessage, Request\n"
        "from fourscore.models.openai import OpenAI\n"
        "from tests.models.fake_endpoint import make_completion, serve_endpoint\n"
        "request = Request(messages=(ChatMessage('user', '?'),))\n"
        "with serve_endpoint([make_completion('hi')]) as endpoint:\n"
        "    model = OpenAI('m', base_url=endpoint.url)\n"
        "    print(PORTAL.run(model.ask(request)).text)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert (done.stdout, done.stderr) == ("hi\n", "")


def test_importing_the_package_does_not_import_aiohttp() -> None:
    code = (
        "import sys, fourscore, fourscore.cli.main, fourscore.models.http_client\n"
        "from fourscore.models.model_spec import make_model\n"
        "make_model('openai:x', base_url='http://127.0.0.1:9')\n"
        "print('aiohttp' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout == "False\n"
