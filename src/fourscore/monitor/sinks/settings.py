"""`monitor.yaml`: which sinks there are, and what each is told.

sinks:
  ops:
    kind: webhook
    url: https://ops.example.com/alerts
    secret_env: OPS_WEBHOOK_SECRET
    repeat: 4h
    least: critical
"""

import re
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from fourscore.core import ConfigError
from fourscore.core.errors import suggest_known
from fourscore.formats.validation import ConversionError, converted
from fourscore.formats.yaml_file import Document, read_document
from fourscore.monitor.alerts import HOUR, Policy
from fourscore.monitor.delivery import Sink
from fourscore.monitor.sinks.alertmanager import RESEND, Alertmanager
from fourscore.monitor.sinks.log import Log
from fourscore.monitor.sinks.secret import Secret, read_secret
from fourscore.monitor.sinks.slack import Slack
from fourscore.monitor.sinks.webhook import Webhook

_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?) ?([smhd]?)")
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": HOUR, "d": 24 * HOUR}
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
NEVER = "never"


class LogSettings(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    repeat: str | float = "4h"
    least: Literal["warning", "critical"] = "warning"


class SlackSettings(LogSettings, kw_only=True):
    """The address is a secret: rather from the environment or a file."""

    url: str | None = None
    url_env: str | None = None
    url_file: str | None = None


class WebhookSettings(SlackSettings, kw_only=True):
    secret_env: str | None = None
    secret_file: str | None = None
    token_env: str | None = None
    token_file: str | None = None


class AlertmanagerSettings(SlackSettings, kw_only=True):
    repeat: str | float = RESEND
    token_env: str | None = None
    token_file: str | None = None
    labels: dict[str, str] = {}


def read_sinks(path: str) -> list[Sink]:
    """The sinks of a file; a `ConfigError` with file, line and field where one cannot be."""
    document = read_document(path)
    value = document.value
    if not isinstance(value, dict) or not isinstance(value.get("sinks"), dict):
        raise document.error("expected a section of sinks, each by its name", "sinks")
    for key in value:
        if key != "sinks":
            raise document.error(f"unknown key; {suggest_known(str(key), ['sinks'])}", str(key))
    return [_sink(document, str(name), section) for name, section in value["sinks"].items()]


def _sink(document: Document, name: str, section: Any) -> Sink:
    place = f"sinks.{name}"
    section = {} if section is None else section  # `log:` alone says it all
    if not isinstance(section, dict):
        raise document.error("expected its settings", place)
    kind = section.get("kind", name)
    if kind not in KINDS:
        field = f"{place}.kind" if "kind" in section else place
        words = f"{kind!r} is no kind of sink; {suggest_known(str(kind), KINDS)}"
        raise document.error(words, field)
    settings_of, build = KINDS[kind]
    fields = {key: item for key, item in section.items() if key != "kind"}
    try:
        return build(name, converted(fields, settings_of))
    except (ConversionError, ConfigError) as error:
        field = f"{place}.{error.field}" if error.field else place
        raise document.error(error.message, field) from None


def _log(name: str, told: LogSettings) -> Sink:
    return Log(name, policy=_policy(told))


def _webhook(name: str, told: WebhookSettings) -> Sink:
    return Webhook(
        _url(told),
        name,
        secret=read_secret("secret", told.secret_env, told.secret_file),
        token=read_secret("token", told.token_env, told.token_file),
        policy=_policy(told),
    )


def _slack(name: str, told: SlackSettings) -> Sink:
    return Slack(_url(told), name, policy=_policy(told))


def _alertmanager(name: str, told: AlertmanagerSettings) -> Sink:
    for label in told.labels:
        if not _LABEL.fullmatch(label):
            raise ConfigError("expected letters, digits and _", field=f"labels.{label}")
    token = read_secret("token", told.token_env, told.token_file)
    policy = _policy(told)
    if policy.repeat is None:
        raise ConfigError("Alertmanager has to hear of open alerts again", field="repeat")
    return Alertmanager(_url(told), name, token=token, labels=told.labels, policy=policy)


#: What each kind is told, and what becomes of it.
KINDS: dict[str, tuple[type[Any], Callable[[str, Any], Sink]]] = {
    "log": (LogSettings, _log),
    "webhook": (WebhookSettings, _webhook),
    "slack": (SlackSettings, _slack),
    "alertmanager": (AlertmanagerSettings, _alertmanager),
}


def _url(told: SlackSettings) -> str | Secret:
    secret = read_secret("url", told.url_env, told.url_file)
    if (told.url is None) == (secret is None):
        raise ConfigError("expected url, url_env or url_file", field="url")
    return told.url or secret or ""


def _policy(told: LogSettings) -> Policy:
    return Policy(repeat=_duration(told.repeat), least=told.least)


def _duration(told: str | float) -> float | None:
    """Seconds, of a number or of words like 90s, 30m, 4h, 1d; None is never."""
    if told == NEVER:
        return None
    found = _DURATION.fullmatch(told) if isinstance(told, str) else None
    seconds = float(found[1]) * _SECONDS[found[2]] if found else told
    if not isinstance(seconds, int | float) or not 1 <= seconds <= 366 * 24 * HOUR:
        words = f"{told!r}: expected seconds, or something like 30m, 4h, 1d, {NEVER}"
        raise ConfigError(words, field="repeat")
    return float(seconds)
