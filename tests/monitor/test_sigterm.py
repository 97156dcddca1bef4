"""SIGTERM, as a deployment sends it, loses no sample: real servers in processes of their own."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from fourscore.stores.monitor import MonitorStore

REQUESTS = 20
#: Judges one sample after the other, so that most of them wait when the signal comes.
APP = """
import os, signal, sys, time
from fourscore import ProductionMonitor, judge
from fourscore.monitor.settings import JudgingSettings

@judge
def slow(case, trace):
    time.sleep(0.1)
    return True

judging = JudgingSettings(workers=1, exit_wait=120)
monitor = ProductionMonitor(1.0, rubric=slow, store="monitor.db", judging=judging)

@monitor.watch
def answer(question):
    return "fine"

def wsgi(environ, start_response):
    start_response("200 OK", [("content-type", "text/plain"), ("connection", "close")])
    return [answer("q").encode()]

async def plain(scope, receive, send):  # it knows no lifespan
    if scope["type"] != "http":
        raise RuntimeError("not served here")
    if scope["path"] == "/watched":
        answer("q")
    kind = [(b"content-type", b"text/plain"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 200, "headers": kind})
    await send({"type": "http.response.body", "body": b"fine"})

async def lives(scope, receive, send):
    if scope["type"] != "lifespan":
        return await plain(scope, receive, send)
    for kind in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{kind}.complete"})

wrapped, wrapped_lives = monitor.asgi(plain), monitor.asgi(lives)
"""
UVICORN = ("-m", "uvicorn", "--fd", "{fd}")
GUNICORN = ("-m", "gunicorn", "--bind", "fd://{fd}", "--workers", "2", "--graceful-timeout", "120")
needs_gunicorn = pytest.mark.skipif(
    find_spec("gunicorn") is None, reason="gunicorn is missing: it is in the dev dependencies"
)


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("/watched", (*UVICORN, "service:plain")),
        ("/", (*UVICORN, "service:wrapped")),
        ("/", (*UVICORN, "service:wrapped_lives")),
        ("/watched", (*UVICORN, "--workers", "2", "service:lives")),
        ("/", (*UVICORN, "--workers", "2", "service:wrapped")),
        pytest.param("/", (*GUNICORN, "service:wsgi"), marks=needs_gunicorn),
        pytest.param("/", (*GUNICORN, "--preload", "service:wsgi"), marks=needs_gunicorn),
        pytest.param(
            "/watched",
            (*GUNICORN, "-k", "uvicorn.workers.UvicornWorker", "service:plain"),
            marks=needs_gunicorn,
        ),
        pytest.param(
            "/",
            (*GUNICORN, "-k", "uvicorn.workers.UvicornWorker", "service:wrapped_lives"),
            marks=needs_gunicorn,
        ),
    ],
    ids=lambda value: " ".join(value[1:]) if isinstance(value, tuple) else value,
)
def test_server_saves_all_samples(path: str, command: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "service.py").write_text(APP)
    MonitorStore(tmp_path / "monitor.db").close()
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        process = subprocess.Popen(
            [sys.executable, *(word.format(fd=listener.fileno()) for word in command)],
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path)},
            pass_fds=[listener.fileno()],
        )
        try:
            statuses = [ask(listener.getsockname()[1], path) for _ in range(REQUESTS)]
            process.send_signal(signal.SIGTERM)
            process.wait(300)
        finally:
            process.kill()
            process.wait()
    assert statuses == [200] * REQUESTS
    assert process.returncode in (0, -signal.SIGTERM)
    assert count_samples(tmp_path) == (REQUESTS, REQUESTS)


def ask(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        connection.request("POST", path, b'{"query": "q"}')
        return connection.getresponse().status
    finally:
        connection.close()


def count_samples(folder: Path) -> tuple[int, int]:
    """Return how many samples are stored, and how many interactions were counted."""
    with MonitorStore(folder / "monitor.db", make=False) as store:
        return len(store.samples("default", limit=1000)), store.counts("default").get("observed", 0)


SCRIPT = """
for number in range(20):
    answer("q")
print("ready", flush=True)
sys.stdin.read()
"""


def run_until_ready(folder: Path, script: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_script_saves_all_samples_and_ends_by_the_signal(tmp_path: Path) -> None:
    process = run_until_ready(tmp_path, APP + SCRIPT)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == -signal.SIGTERM
    assert count_samples(tmp_path) == (REQUESTS, REQUESTS)


def test_second_signal_ends_the_script_at_once(tmp_path: Path) -> None:
    process = run_until_ready(tmp_path, APP.replace("sleep(0.1)", "sleep(3600)") + SCRIPT)
    while process.poll() is None:
        process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
    process.communicate()
    assert process.returncode == -signal.SIGTERM
    assert count_samples(tmp_path)[0] == 0


def test_handler_of_the_application_is_left_alone(tmp_path: Path) -> None:
    before = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))"
    script = APP.replace("judging =", f"{before}\njudging =", 1) + SCRIPT
    process = run_until_ready(tmp_path, script)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 7
    assert count_samples(tmp_path)[0] == REQUESTS


@pytest.mark.parametrize("wait", [0.0, 5.0])
def test_exit_wait_of_0_leaves_the_signal_alone(tmp_path: Path, wait: float) -> None:
    script = APP.replace("exit_wait=120", f"exit_wait={wait}")
    script += "print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{wait == 0.0}\n"
