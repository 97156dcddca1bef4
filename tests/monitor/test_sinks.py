"""Sinks against real servers on loopback: what arrives, what stays secret, what fails."""

import base64
import hmac
import json
import logging
import pickle
import re
import socket
import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import jsonschema
import pytest

from fourscore.core import ConfigError
from fourscore.core.secrets import hide_secrets
from fourscore.monitor.alerts import Notice, Policy
from fourscore.monitor.delivery import SinkError
from fourscore.monitor.sinks import Alertmanager, Log, Slack, Webhook
from fourscore.monitor.sinks.http import Address
from fourscore.monitor.sinks.secrets import Secret
from fourscore.monitor.sinks.slack import escape, make_message
from fourscore.monitor.sinks.webhook import sign

Made = Callable[..., Notice]
#: What a hostile client may send as a tag or an id.
HOSTILE = "<!channel> <http://evil.example|click> & `x` @here\n*bold* \x1b[31m"

#: `postableAlerts` of Alertmanager's API v2.
POSTABLE = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["labels"],
        "additionalProperties": False,
        "properties": {
            "startsAt": {"type": "string", "format": "date-time"},
            "endsAt": {"type": "string", "format": "date-time"},
            "generatorURL": {"type": "string", "format": "uri"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    },
}


def test_webhook_is_signed_and_has_all_fields(receiver: Any, notice: Made) -> None:
    secret = "whsec_" + base64.b64encode(b"k" * 32).decode()
    sink = Webhook(f"{receiver.url}/hook", secret=Secret(secret), token=Secret("t0ken"))
    sink.send([notice()])
    (got,) = receiver.requests
    assert (got.path, got.headers["content-type"]) == ("/hook", "application/json")
    assert got.headers["authorization"] == "Bearer t0ken"
    assert got.headers["webhook-id"] == "alert_1"
    stamp = got.headers["webhook-timestamp"]
    assert abs(int(stamp) - time.time()) < 600
    signed = f"alert_1.{stamp}.".encode() + got.body
    expected = base64.b64encode(hmac.digest(b"k" * 32, signed, "sha256")).decode()
    assert got.headers["webhook-signature"] == f"v1,{expected}"
    document = json.loads(got.body)
    assert document["type"] == "alert.firing"
    assert document["title"] == "shop: the pass rate of tag refunds is critical"
    assert document["evidence"] == ["req-1", "req-2"]
    assert (document["estimate"], document["low"], document["high"]) == (0.6, 0.5, 0.7)
    assert (document["sure"], document["since"]) == (0.98, 1_700_000_000.0)


def test_signature_matches_standard_webhooks() -> None:
    """The example from the tests of the Standard Webhooks libraries."""
    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    result = sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", b'{"test": 2432232314}')
    assert result == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_webhook_without_secret_is_not_signed(receiver: Any, notice: Made) -> None:
    Webhook(receiver.url).send([notice()])
    (got,) = receiver.requests
    assert got.path == "/"
    assert "webhook-signature" not in got.headers
    assert "authorization" not in got.headers


@pytest.mark.parametrize("secret", ["short", "whsec_****", "whsec_c2hvcnQ="])
def test_short_secret_is_refused(secret: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Webhook("http://127.0.0.1", secret=Secret(secret))
    assert secret not in str(caught.value)


def test_slack_message_escapes_mentions_and_links(notice: Made) -> None:
    hostile = notice(stream=f"tag:{HOSTILE}", evidence=(HOSTILE,), monitor=HOSTILE, detail=HOSTILE)
    result = make_message([hostile])
    text = result["text"]
    assert "<" not in text
    assert ">" not in text
    assert "&lt;!channel&gt;" in text
    assert not re.search(r"&(?!(?:amp|lt|gt);)", text)
    outside = re.sub(r"`[^`\n]*`", "", text)  # only our own text is outside backticks
    assert "evil" not in outside
    assert "@here" not in outside
    assert "\x1b" not in text
    assert result["unfurl_links"] is False
    assert escape("a & b < c > d") == "a &amp; b &lt; c &gt; d"


def test_slack_gets_several_alerts_in_one_message(receiver: Any, notice: Made) -> None:
    over = notice(state="resolved", status="healthy", evidence=(), sure=None)
    Slack(Secret(f"{receiver.url}/services/T/B/x")).send([notice(), over])
    (got,) = receiver.requests
    text = json.loads(got.body)["text"]
    first, second = text.split("\n\n")
    assert first.startswith(":rotating_light: *`shop`: the pass rate of tag `refunds` is critical*")
    assert "evidence: `req-1`, `req-2`" in first
    assert "how sure: 98.00%" in first
    assert second.startswith(":white_check_mark: *`shop`: the pass rate of tag `refunds` is hea")


def test_slack_message_with_hostile_names_is_bounded(notice: Made) -> None:
    ids = tuple("&" * 5000 + str(n) for n in range(10))
    assert len(make_message([notice(evidence=ids)] * 20)["text"]) < 40_000


def test_alertmanager_request_format(receiver: Any, notice: Made) -> None:
    sink = Alertmanager(f"{receiver.url}/am/", labels={"team": "shop"}, token=Secret("t0ken"))
    assert sink.policy.repeat == 60
    before = time.time()
    sink.send([notice()])
    sink.send([notice(state="resolved", status="healthy", severity="critical")])
    firing, over = (json.loads(got.body) for got in receiver.requests)
    assert {got.path for got in receiver.requests} == {"/am/api/v2/alerts"}
    assert receiver.requests[0].headers["authorization"] == "Bearer t0ken"
    for alerts in (firing, over):
        jsonschema.validate(alerts, POSTABLE)
        for alert in alerts:
            assert datetime.fromisoformat(alert["startsAt"]).timestamp() == 1_700_000_000
    warning, critical = firing
    assert critical["labels"] == {
        "alertname": "FourscorePassRate", "monitor": "shop", "kind": "tag", "stream": "tag:refunds",
        "severity": "critical", "team": "shop",
    }  # fmt: skip
    assert datetime.fromisoformat(critical["endsAt"]).timestamp() >= before + 5 * 60 - 1
    assert datetime.fromisoformat(warning["endsAt"]).timestamp() <= time.time()
    assert "evidence: req-1, req-2" in critical["annotations"]["description"]
    assert all(datetime.fromisoformat(one["endsAt"]).timestamp() <= time.time() for one in over)
    # Alertmanager identifies alerts by labels: a resolved alert must have the same ones.
    assert [one["labels"] for one in over] == [one["labels"] for one in firing]


def test_failing_judge_has_its_own_alertmanager_alert(receiver: Any, notice: Made) -> None:
    Alertmanager(receiver.url).send([notice(stream="judge")])
    _, critical = json.loads(receiver.requests[0].body)
    assert critical["labels"]["alertname"] == "FourscoreJudgeFailing"
    assert "says nothing about the agent" in critical["annotations"]["summary"]


def test_log_has_one_line_per_alert(notice: Made, caplog: pytest.LogCaptureFixture) -> None:
    hostile = notice(stream="tag:a\nFAKE LINE", severity="warning", status="warning")
    over = notice(state="resolved", status="healthy")
    with caplog.at_level(logging.INFO, "fourscore.monitor.alerts"):
        Log().send([notice(), hostile, over])
    levels = [record.levelno for record in caplog.records]
    assert levels == [logging.ERROR, logging.WARNING, logging.INFO]
    assert all("\n" not in record.getMessage() for record in caplog.records)
    assert "evidence req-1, req-2" in caplog.records[0].getMessage()


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_status_other_than_2xx_is_a_failure(receiver: Any, notice: Made, status: int) -> None:
    receiver.status, receiver.reply_headers = status, {"retry-after": "7"}
    with pytest.raises(SinkError, match=str(status)) as caught:
        Slack(f"{receiver.url}/services/SECRET").send([notice()])
    assert caught.value.again == 7
    assert "SECRET" not in str(caught.value)


def test_redirect_is_not_followed(receiver: Any, notice: Made) -> None:
    receiver.status, receiver.reply_headers = 307, {"location": f"{receiver.url}/elsewhere"}
    with pytest.raises(SinkError, match="307"):
        Webhook(f"{receiver.url}/hook").send([notice()])
    assert [got.path for got in receiver.requests] == ["/hook"]


def test_refused_connection_names_only_the_host(notice: Made) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(SinkError) as caught:
            Webhook(f"http://127.0.0.1:{port}/SECRET?key=SECRET").send([notice()])
    assert f"127.0.0.1:{port}" in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_slow_response_is_cut_off_at_the_timeout() -> None:
    """Each byte arrives in time, but the response never ends."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                while not stop.wait(0.02):
                    try:
                        connection.sendall(b"x")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            address = Address(f"http://127.0.0.1:{server.getsockname()[1]}")
            with pytest.raises(SinkError, match=r"no answer within 0\.3 s"):
                address.post(b"{}", {}, timeout=0.3)
        finally:
            stop.set()
            thread.join()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://x",
        "http://",
        "//x",
        "http://u:p@x/",
        "http://x/a b",
        "http://x:99999",
        "http://x/\n",
    ],
)
def test_invalid_url_is_refused(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Address(url)
    assert caught.value.field == "url"


def test_secret_is_not_shown_in_errors_or_repr() -> None:
    secret = Secret("s3cr3t-s3cr3t-s3cr3t")
    sink = Webhook(Secret("https://x.example/s3cr3t"), secret=secret, token=secret)
    assert "s3cr3t" not in repr(secret) + repr(sink) + repr(vars(sink)["_address"])
    with pytest.raises(TypeError):
        pickle.dumps(secret)


def test_invalid_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="repeat"):
        Policy(repeat=0)


def test_path_of_a_secret_address_is_hidden_in_errors() -> None:
    Secret("https://hooks.example/services/T0001/B0002/abcdefXYZ1")
    quoted = "Max retries exceeded with url: /services/T0001/B0002/abcdefXYZ1 (refused)"
    assert hide_secrets(quoted) == "Max retries exceeded with url: /[key] (refused)"
