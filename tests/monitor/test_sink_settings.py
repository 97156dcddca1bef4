"""`monitor.yaml`: its settings, and how a mistake is reported."""

from pathlib import Path

import pytest

from fourscore.core import ConfigError
from fourscore.monitor.sinks import Alertmanager, Log, Slack, Webhook, read_sinks
from fourscore.monitor.sinks.secrets import read_secret

GOOD = """\
sinks:
  log:
  ops:
    kind: webhook
    url: https://ops.example.com/alerts
    secret_env: OPS_SECRET
    token_file: {folder}/token
    repeat: 30m
    least: critical
  chat:
    kind: slack
    url_env: CHAT_URL
    repeat: never
  alertmanager:
    url: http://127.0.0.1:9093
    labels: {{team: shop}}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPS_SECRET", "0123456789abcdef-secret")
    monkeypatch.setenv("CHAT_URL", "https://hooks.example.com/services/SECRET")
    (tmp_path / "token").write_text("t0ken\n")
    return tmp_path / "monitor.yaml"


def test_reads_all_four_kinds_of_sinks(file: Path, tmp_path: Path) -> None:
    file.write_text(GOOD.format(folder=tmp_path))
    log, ops, chat, manager = read_sinks(str(file))
    assert [type(sink) for sink in (log, ops, chat, manager)] == [Log, Webhook, Slack, Alertmanager]
    assert [sink.name for sink in (log, ops, chat, manager)] == [
        "log",
        "ops",
        "chat",
        "alertmanager",
    ]
    assert (log.policy.repeat, log.policy.least) == (4 * 3600, "warning")
    assert (ops.policy.repeat, ops.policy.least) == (1800, "critical")
    assert (chat.policy.repeat, manager.policy.repeat) == (None, 60)


@pytest.mark.parametrize(
    ("text", "line", "field", "words"),
    [
        ("", None, "sinks", "expected a mapping of sinks"),
        ("sinks: [log]\n", 1, "sinks", "expected a mapping of sinks"),
        ("sinks:\n  log:\nsink: 1\n", 3, "sink", "sinks"),
        ("sinks:\n  pager:\n", 2, "sinks.pager", "not a kind of sink"),
        ("sinks:\n  x:\n    kind: slak\n", 3, "sinks.x.kind", "slack"),
        ("sinks:\n  x:\n    kind: 7\n", 3, "sinks.x.kind", "not a kind of sink"),
        ("sinks:\n  log: loud\n", 2, "sinks.log", "settings of this sink"),
        ("sinks:\n  log:\n    reapet: 4h\n", 3, "sinks.log.reapet", "repeat"),
        ("sinks:\n  log:\n    repeat: soon\n", 3, "sinks.log.repeat", "4h"),
        ("sinks:\n  log:\n    repeat: 0\n", 3, "sinks.log.repeat", "4h"),
        ("sinks:\n  log:\n    least: bad\n", 3, "sinks.log.least", "warning, critical"),
        ("sinks:\n  slack:\n    least: warning\n", 2, "sinks.slack.url", "url_env"),
        ("sinks:\n  slack:\n    url: mailto:x\n", 3, "sinks.slack.url", "http"),
        ("sinks:\n  slack:\n    url_env: NO_SUCH\n", 3, "sinks.slack.url_env", "NO_SUCH"),
        ("sinks:\n  webhook:\n    url: http://x\n    secret_file: /no\n", 4,
         "sinks.webhook.secret_file", "No such file"),
        ("sinks:\n  webhook:\n    url: http://x\n    secret: abc\n", 4,
         "sinks.webhook.secret", "secret_env"),
        ("sinks:\n  alertmanager:\n    url: http://x\n    repeat: never\n", 4,
         "sinks.alertmanager.repeat", "needs repeated alerts"),
        ("sinks:\n  alertmanager:\n    url: http://x\n    labels: {a-b: x}\n", 4,
         "sinks.alertmanager.labels.a-b", "letters"),
    ],
)  # fmt: skip
def test_mistake_is_reported_with_line_and_field(
    file: Path, text: str, line: int | None, field: str, words: str
) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_sinks(str(file))
    error = caught.value
    assert (error.file, error.line, error.field) == (str(file), line, field)
    assert words in error.message


def test_secret_comes_from_variable_or_file_and_is_not_empty(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_text("\n")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not both"):
        read_secret("secret", "A", "b")
    with pytest.raises(ConfigError, match="is empty"):
        read_secret("secret", None, str(empty))
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_secret("secret", None, str(binary))
    with pytest.raises(ConfigError, match="not set"):
        read_secret("secret", "A", None, {"A": " "})
    assert read_secret("secret", None, None) is None
