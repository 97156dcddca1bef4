"""POST over HTTP/1.1 against a server that sends exactly the bytes it is told to."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import ConfigError
from fourscore.models import connection, posting
from fourscore.models.connection import Answer, PostError, TooLongError
from fourscore.models.posting import Poster

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


async def until(so: Callable[[], bool]) -> None:
    while not so():  # noqa: ASYNC110
        await asyncio.sleep(0.001)


class Peer:
    """Answers each request with the next of `says`; keeps requests, counts connections."""

    def __init__(self, *says: bytes, ends: bool = False) -> None:
        self.says, self.ends = list(says), ends
        self.requests: list[bytes] = []
        self.connections = self.gone = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                self.requests.append(head + await reader.readexactly(size))
                if not self.says:
                    await reader.read()  # and never an answer
                    break
                writer.write(self.says.pop(0))
                await writer.drain()
                if self.ends and not self.says:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        self.gone += 1

    async def rests(self) -> None:
        """Until all its connections are closed."""
        await until(lambda: self.gone == self.connections)


@asynccontextmanager
async def peered(peer: Peer, path: str = "", **more: Any) -> Any:
    server = await asyncio.start_server(peer.serve, "127.0.0.1", 0)
    poster = Poster(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{path}", **more)
    try:
        yield poster
    finally:
        await poster.close()
        await peer.rests()
        server.close()


def posted(peer: Peer, times: int = 1, path: str = "", **more: Any) -> list[Any]:
    """What comes of so many posts, one after the other: answers and errors."""

    async def main() -> list[Any]:
        async with peered(peer, path, **more) as poster:
            found: list[Any] = []
            for number in range(times):
                try:
                    found.append(await poster.post(b"%d" % number))
                except PostError as error:
                    found.append(error)
            return found

    return asyncio.run(main())


@pytest.mark.parametrize(
    "said",
    [
        OK,
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\nLink: a\r\n\r\n" + OK,
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi".replace(b"\n", b"\r\n"),
    ],
)
def test_ways_to_say_hi(said: bytes) -> None:
    peer = Peer(said, said)
    one, two = posted(peer, 2)
    assert (one.status, one.body) == (two.status, two.body) == (200, b"hi")
    assert peer.connections == 1


@pytest.mark.parametrize("head", [b"", b"Connection: close\r\n"])
def test_an_answer_may_end_with_its_connection(head: bytes) -> None:
    peer = Peer(b"HTTP/1.1 200 OK\r\n" + head + b"\r\nhello", ends=True)
    (answer,) = posted(peer)
    assert answer == Answer(200, answer.headers, b"hello")


def test_a_connection_that_is_not_to_be_kept_is_not() -> None:
    peer = Peer(*[OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")] * 3)
    assert [answer.body for answer in posted(peer, 3)] == [b"hi"] * 3
    assert peer.connections == 3


def test_one_that_was_closed_meanwhile_is_not_used_again() -> None:
    async def main() -> None:
        peer = Peer(OK, ends=True)
        async with peered(peer) as poster:
            assert (await poster.post(b"1")).body == b"hi"
            await peer.rests()
            await until(lambda: not poster._free[0].keeps)
            peer.says.append(OK)
            assert (await poster.post(b"2")).body == b"hi"
            assert peer.connections == 2

    asyncio.run(main())


def test_old_ones_are_dropped() -> None:
    async def main() -> None:
        peer = Peer(*[OK] * 4)
        async with peered(peer) as poster:
            await asyncio.gather(poster.post(b"1"), poster.post(b"2"))
            poster._free[0].since -= 60  # dropped when the other comes back
            assert (await poster.post(b"3")).body == b"hi"
            assert len(poster._free) == 1
            poster._free[0].since -= 60  # not used again
            assert (await poster.post(b"4")).body == b"hi"
            assert peer.connections == 3

    asyncio.run(main())


@pytest.mark.parametrize(
    "said",
    [
        OK + OK,  # a whole answer too many
        OK + b"HTTP/1.1 200 OK\r\nContent-Le",  # and the rest would come as the next one's
        OK + b"\x00nonsense",
    ],
)
def test_an_answer_to_nothing_is_never_the_next_one(said: bytes) -> None:
    peer = Peer(said, OK.replace(b"hi", b"yo"))
    one, two = posted(peer, 2)
    assert isinstance(one, PostError) or one.body == b"hi"
    assert two.body == b"yo"
    assert peer.connections == 2


def test_one_that_speaks_unasked_is_left() -> None:
    async def main() -> None:
        peer = Peer(OK)
        async with peered(peer) as poster:
            assert (await poster.post(b"1")).body == b"hi"
            connection = poster._free[0]
            connection.data_received(OK.replace(b"hi", b"no"))
            peer.says.append(OK)
            assert (await poster.post(b"2")).body == b"hi"
            assert peer.connections == 2

    asyncio.run(main())


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"", "closed before an answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "in the middle of an answer"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhal", "in the middle"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "closed before"),
        (b"220 smtp ready\r\n\r\n", "does not speak HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "does not speak HTTP"),
        (b"HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "does not speak HTTP"),
        (OK.replace(b"\r\n\r\n", b"\r\nContent-Encoding: br\r\n\r\n"), "packed as 'br'"),
    ],
)
def test_no_answer(said: bytes, words: str) -> None:
    (error,) = posted(Peer(said, ends=True))
    assert type(error) is PostError
    assert words in str(error)
    assert error.reached


def test_nobody_is_there() -> None:
    async def main() -> PostError:
        async with peered(Peer()) as poster:
            address = f"http://127.0.0.1:{poster._port}"
        with pytest.raises(PostError) as caught:
            await Poster(address).post(b"")
        return caught.value

    error = asyncio.run(main())
    assert (error.reached, error.lasting) == (False, False)


@pytest.mark.parametrize(
    ("failure", "connect", "words"),
    [
        (TimeoutError(110, "Connection timed out"), None, "Connection timed out"),
        (TimeoutError(110, "Connection timed out"), 5.0, "Connection timed out"),
        (socket.gaierror(-2, "Name or service not known"), None, "Name or service not known"),
        (None, 0.01, "no connection within 0.01 s"),
    ],
)
def test_a_host_that_cannot_be_reached(
    failure: Exception | None,
    connect: float | None,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def reached(*_: Any) -> Any:
        if failure is not None:
            raise failure
        await asyncio.Event().wait()

    monkeypatch.setattr(posting, "_reached", reached)
    with pytest.raises(PostError, match=words) as caught:
        asyncio.run(Poster("http://127.0.0.1:9", connect=connect).post(b""))
    assert not caught.value.reached


def test_an_address_that_leads_nowhere_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with two addresses, of which the first never answers."""

    async def main() -> bytes:
        peer = Peer(OK)
        async with peered(peer) as poster:
            loop, port = asyncio.get_running_loop(), poster._port
            kinds = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
            nowhere, here = (*kinds, ("192.0.2.1", 9)), (*kinds, ("127.0.0.1", port))

            async def places(*_: Any, **__: Any) -> Any:
                return [nowhere, here]

            connect = loop.sock_connect

            async def hangs(sock: socket.socket, address: Any) -> None:
                if address[0] == "192.0.2.1":
                    await asyncio.Event().wait()
                await connect(sock, address)

            monkeypatch.setattr(loop, "getaddrinfo", places)
            monkeypatch.setattr(loop, "sock_connect", hangs)
            answer: Answer = await poster.post(b"1")
            return answer.body

    assert asyncio.run(main()) == b"hi"


@pytest.mark.parametrize(
    "head", [b"Content-Length: 2000\r\n\r\n", b"\r\n", b"transfer-encoding: chunked\r\n\r\n7d0\r\n"]
)
def test_too_much(head: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_ANSWER", 500)
    monkeypatch.setattr(connection, "MAX_HEAD", 500)
    (error,) = posted(Peer(b"HTTP/1.1 200 OK\r\n" + head + b"x" * 2000, ends=True))
    assert type(error) is TooLongError


def test_what_is_sent() -> None:
    peer = Peer(OK, OK)

    async def main() -> None:
        async with peered(peer, "/a b/é?q=1&r=a%20b", headers={"X-Key": "k"}) as poster:
            await poster.post(b'{"a": 1}')
            await poster.post(b"", "verb")

    asyncio.run(main())
    head, _, body = peer.requests[0].partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    assert first == "POST /a%20b/%C3%A9?q=1&r=a%20b HTTP/1.1"
    named = dict(line.split(": ", 1) for line in rest)
    assert named["Host"].startswith("127.0.0.1:")
    assert named["Content-Type"] == "application/json"
    assert (named["Content-Length"], named["X-Key"]) == ("8", "k")
    assert body == b'{"a": 1}'
    assert peer.requests[1].startswith(b"POST /a%20b/%C3%A9/verb?q=1&r=a%20b HTTP/1.1\r\n")


def test_a_password_in_the_address_is_a_header() -> None:
    async def main() -> bytes:
        peer = Peer(OK)
        async with peered(peer) as poster:
            address = f"http://me:p%40ss@127.0.0.1:{poster._port}"
            other = Poster(address)
            await other.post(b"")
            await other.close()
        return peer.requests[0]

    request = asyncio.run(main())
    assert b"Authorization: Basic bWU6cEBzcw==\r\n" in request
    assert b"p%40ss" not in request


def test_a_name_in_other_letters() -> None:
    assert "Host: xn--bcher-kva.example:81\r\n" in Poster("http://bücher.example:81/")._headers


def test_a_name_that_no_host_can_have() -> None:
    with pytest.raises(ConfigError, match="cannot be the name of a host"):
        Poster(f"http://{'ü' * 80}.example/")


@pytest.mark.parametrize("text", ["a\r\nX: y", "a\nb", "a\x00"])
def test_a_header_is_one_line(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Poster("http://127.0.0.1", {"X-Key": text})
    assert text not in str(caught.value)


def test_a_post_that_is_given_up_takes_its_connection_along() -> None:
    async def main() -> None:
        peer = Peer()
        async with peered(peer) as poster:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await poster.post(b"1")
            await peer.rests()  # it learns of it
            peer.says.append(OK)
            assert (await poster.post(b"2")).body == b"hi"
            assert peer.connections == 2

    asyncio.run(main())


def test_many_at_once_get_each_their_own() -> None:
    ended: list[Any] = []

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                body = await reader.readexactly(size)
                await asyncio.sleep(int(body) % 7 / 1000)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (size, body))
        except asyncio.IncompleteReadError:
            writer.close()
        ended.append(reader)

    async def main() -> None:
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        poster = Poster(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")

        async def several(worker: int) -> None:
            for number in range(worker, 500, 20):
                assert (await poster.post(b"%d" % number)).body == b"%d" % number

        await asyncio.gather(*map(several, range(20)))
        kept = len(poster._free)
        assert kept <= 20
        await poster.close()
        await until(lambda: len(ended) == kept)
        server.close()

    asyncio.run(main())


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    import trustme

    folder = tmp_path_factory.mktemp("tls")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "authority.pem")
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(
        folder / "server.pem"
    )
    return folder / "authority.pem", folder / "server.pem"


async def securely(server_pem: Path, use: Callable[[Poster], Awaitable[Any]]) -> Any:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(server_pem)
    peer = Peer(OK, OK)
    server = await asyncio.start_server(peer.serve, "127.0.0.1", 0, ssl=context)
    poster = Poster(f"https://localhost:{server.sockets[0].getsockname()[1]}/")
    try:
        return await use(poster)
    finally:
        await poster.close()
        await peer.rests()
        server.close()


def test_a_certificate_that_is_trusted(
    certified: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, server = certified
    trusting = ssl.create_default_context(cafile=str(authority))
    monkeypatch.setattr(posting, "_verified", lambda: trusting)

    async def twice(poster: Poster) -> list[bytes]:
        return [(await poster.post(b"1")).body, (await poster.post(b"2")).body]

    assert asyncio.run(securely(server, twice)) == [b"hi", b"hi"]


def test_a_certificate_that_is_not_is_refused_for_good(certified: tuple[Path, Path]) -> None:
    async def refused(poster: Poster) -> PostError:
        with pytest.raises(PostError, match="certificate") as caught:
            await poster.post(b"1")
        return caught.value

    error = asyncio.run(securely(certified[1], refused))
    assert (error.reached, error.lasting) == (False, True)
