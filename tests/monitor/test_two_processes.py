"""Two processes on one store, one killed and restarted: counts and alerts are exact."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from fourscore.stores.monitor import MonitorStore

#: A service that observes interactions with a range of ids, and sends its alerts to a webhook.
SERVICE = """
import sys, time
from fourscore import ProductionMonitor, judge
from fourscore.monitor.settings import JudgingSettings
from fourscore.monitor.sinks import read_sinks

@judge
def fine(case, trace):
    return "good" in trace.answer

store, first, last, pace, words = sys.argv[1:]
monitor = ProductionMonitor(
    1.0,
    rubric=fine,
    store=store,
    sinks=read_sinks("monitor.yaml"),
    judging=JudgingSettings(queue=10_000, exit_wait=60),
)
print("up", flush=True)
for number in range(int(first), int(last)):
    monitor.observe("q", words, id=f"request-{number}", tags=["a"])
    time.sleep(float(pace))
assert monitor.flush(120)
sys.stdin.read()  # until stdin is closed
"""


class Service:
    def __init__(
        self, folder: Path, first: int, last: int, pace: float, words: str = "bad"
    ) -> None:
        options = [str(first), str(last), str(pace), words]
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVICE, "monitor.db", *options],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "up\n"

    def end(self) -> None:
        _, _ = self.process.communicate("")
        assert self.process.returncode == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def received_alerts(receiver: Any) -> list[dict[str, Any]]:
    return [json.loads(got.body) for got in receiver.requests]


def wait_for_samples(folder: Path, n: int) -> None:
    """Wait until so many samples are in the store."""
    for _ in range(1200):
        with MonitorStore(folder / "monitor.db", make=False) as store:
            if len(store.samples("default", limit=10_000)) >= n:
                return
        time.sleep(0.05)
    raise AssertionError("the samples were not stored")


def wait_for_deliveries(folder: Path) -> None:
    """Wait until the store knows that all open alerts were sent."""
    for _ in range(1200):
        with MonitorStore(folder / "monitor.db", make=False) as store:
            is_open = store.outbox.alerts("default", only_open=True)
            sent = [store.outbox.deliveries(one.number).get("webhook") for one in is_open]
        if len(sent) == 3 and all(each is not None and each[1] for each in sent):
            return
        time.sleep(0.05)
    raise AssertionError("the alerts were not sent")


def test_counts_add_up_and_an_alert_is_sent_once(receiver: Any, tmp_path: Path) -> None:
    (tmp_path / "monitor.yaml").write_text(f"sinks:\n  webhook: {{url: '{receiver.url}'}}\n")
    MonitorStore(tmp_path / "monitor.db").close()
    # 100 interactions are seen by both: each is one sample.
    services = [Service(tmp_path, 0, 300, 0.001), Service(tmp_path, 200, 500, 0.001)]
    wait_for_samples(tmp_path, 500)
    for service in services:
        service.end()
    with MonitorStore(tmp_path / "monitor.db", make=False) as store:
        counts = store.counts("default")
        state = json.loads(store.state("default") or b"")
        alerts = store.outbox.alerts("default")
    assert counts["observed"] == 600
    assert state["samples"] == state["statuses"]["scored"] == 500
    assert counts.get("twice", 0) == 100
    # Some warnings became critical before they were sent: each open alert was sent once.
    sent = received_alerts(receiver)
    assert max(Counter(got.headers["webhook-id"] for got in receiver.requests).values()) == 1
    open_ = {alert.stream for alert in alerts if alert.open}
    assert {"overall", "dimension:fine", "tag:a"} == open_
    latest = Counter(one["stream"] for one in sent if one["status"] == "critical")
    assert latest == dict.fromkeys(open_, 1)
    assert counts["deliveries_sent:webhook"] == len(sent)


def test_crash_and_restart_repeat_no_alert(receiver: Any, tmp_path: Path) -> None:
    (tmp_path / "monitor.yaml").write_text(f"sinks:\n  webhook: {{url: '{receiver.url}'}}\n")
    MonitorStore(tmp_path / "monitor.db").close()
    first = Service(tmp_path, 0, 100_000, 0.002)
    wait_for_samples(tmp_path, 80)
    wait_for_deliveries(tmp_path)
    first.kill()
    n = len(receiver.requests)
    with MonitorStore(tmp_path / "monitor.db", make=False) as store:
        before = json.loads(store.state("default") or b"")["samples"]
        assert before == len(store.samples("default", limit=100_000))
    # Again from the first id, as after a crash: all samples are stored and all alerts sent already.
    second = Service(tmp_path, 0, before + 20, 0.0)
    wait_for_samples(tmp_path, before + 20)
    second.end()
    with MonitorStore(tmp_path / "monitor.db", make=False) as store:
        assert json.loads(store.state("default") or b"")["samples"] == before + 20
    assert len(receiver.requests) == n
    assert max(Counter(got.headers["webhook-id"] for got in receiver.requests).values()) == 1


def test_forked_child_delivers_its_own_alerts(receiver: Any, tmp_path: Path) -> None:
    (tmp_path / "monitor.yaml").write_text(f"sinks:\n  webhook: {{url: '{receiver.url}'}}\n")
    program = SERVICE.replace(
        'print("up", flush=True)',
        "import os\nchild = os.fork()\nif child: os._exit(os.waitpid(child, 0)[1])",
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "monitor.db", "0", "60", "0", "bad"],
        cwd=tmp_path, input="", text=True, check=False, env=os.environ,
    )  # fmt: skip
    assert done.returncode == 0
    assert {one["stream"] for one in received_alerts(receiver)} == {
        "overall",
        "dimension:fine",
        "tag:a",
    }


#: Two threads use the store all the time; forked children must still be able to use it.
FORKING = """
import os, signal, threading, time
from fourscore.stores.monitor import MonitorStore

store, stop = MonitorStore("monitor.db"), threading.Event()

def work():
    while not stop.is_set():
        store.outbox.claim("m", "s", time.time())
        store.commit("m", [], None, counts={"parent": 1})

threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(12):
    child = os.fork()
    if not child:
        signal.alarm(60)
        store.commit("m", [], None, counts={"child": 1})
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for thread in threads:
    thread.join()
assert store.counts("m")["child"] == 12
"""


def test_fork_waits_until_no_thread_is_inside_sqlite(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FORKING], cwd=tmp_path, check=False)
    assert done.returncode == 0
