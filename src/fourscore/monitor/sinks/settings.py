"""Reads `monitor.yaml`: the sinks, and which alerts each one gets.

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
from fourscore.formats.validation import ConversionError, convert_value
from fourscore.formats.yaml_file import YamlDocument, read_yaml_file
from fourscore.monitor.alerts import HOUR, Policy
from fourscore.monitor.delivery import Sink
from fourscore.monitor.sinks.alertmanager import RESEND, Alertmanager
from fourscore.monitor.sinks.log import Log
from fourscore.monitor.sinks.secrets import Secret, read_secret
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
    """The URL is a secret: prefer `url_env` or `url_file`."""

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
    """Read the sinks from a file; a `ConfigError` names file, line and field of a mistake."""
    document = read_yaml_file(path)
    value = document.value
    if not isinstance(value, dict) or not isinstance(value.get("sinks"), dict):
        raise document.error("expected a mapping of sinks: a name and settings for each", "sinks")
    for key in value:
        if key != "sinks":
            raise document.error(f"unknown key; {suggest_known(str(key), ['sinks'])}", str(key))
    return [_make_sink(document, str(name), section) for name, section in value["sinks"].items()]


def _make_sink(document: YamlDocument, name: str, section: Any) -> Sink:
    place = f"sinks.{name}"
    section = {} if section is None else section  # `log:` alone is enough
    if not isinstance(section, dict):
        raise document.error("expected a mapping with the settings of this sink", place)
    kind = section.get("kind", name)
    if not isinstance(kind, str) or kind not in KINDS:
        field = f"{place}.kind" if "kind" in section else place
        message = f"{kind!r} is not a kind of sink; {suggest_known(str(kind), KINDS)}"
        raise document.error(message, field)
    settings_type, make = KINDS[kind]
    fields = {key: item for key, item in section.items() if key != "kind"}
    try:
        return make(name, convert_value(fields, settings_type))
    except (ConversionError, ConfigError) as error:
        field = f"{place}.{error.field}" if error.field else place
        raise document.error(error.message, field) from None


def _make_log(name: str, settings: LogSettings) -> Sink:
    return Log(name, policy=_make_policy(settings))


def _make_webhook(name: str, settings: WebhookSettings) -> Sink:
    return Webhook(
        _read_url(settings),
        name,
        secret=read_secret("secret", settings.secret_env, settings.secret_file),
        token=read_secret("token", settings.token_env, settings.token_file),
        policy=_make_policy(settings),
    )


def _make_slack(name: str, settings: SlackSettings) -> Sink:
    return Slack(_read_url(settings), name, policy=_make_policy(settings))


def _make_alertmanager(name: str, settings: AlertmanagerSettings) -> Sink:
    for label in settings.labels:
        if not _LABEL.fullmatch(label):
            raise ConfigError("expected letters, digits and _", field=f"labels.{label}")
    token = read_secret("token", settings.token_env, settings.token_file)
    policy = _make_policy(settings)
    if policy.repeat is None:
        raise ConfigError(
            "Alertmanager needs repeated alerts: give a duration like 60s, not never",
            field="repeat",
        )
    return Alertmanager(
        _read_url(settings), name, token=token, labels=settings.labels, policy=policy
    )


#: For each kind of sink: the type of its settings, and the function that makes it.
KINDS: dict[str, tuple[type[Any], Callable[[str, Any], Sink]]] = {
    "log": (LogSettings, _make_log),
    "webhook": (WebhookSettings, _make_webhook),
    "slack": (SlackSettings, _make_slack),
    "alertmanager": (AlertmanagerSettings, _make_alertmanager),
}


def _read_url(settings: SlackSettings) -> str | Secret:
    secret = read_secret("url", settings.url_env, settings.url_file)
    if (settings.url is None) == (secret is None):
        raise ConfigError("expected exactly one of url, url_env and url_file", field="url")
    return settings.url or secret or ""


def _make_policy(settings: LogSettings) -> Policy:
    return Policy(repeat=_parse_repeat(settings.repeat), least=settings.least)


def _parse_repeat(given: str | float) -> float | None:
    """Return seconds from a number or a text like 90s, 30m, 4h, 1d; None for "never"."""
    if given == NEVER:
        return None
    found = _DURATION.fullmatch(given) if isinstance(given, str) else None
    seconds = float(found[1]) * _SECONDS[found[2]] if found else given
    if not isinstance(seconds, int | float) or not 1 <= seconds <= 366 * 24 * HOUR:
        message = f"{given!r}: expected seconds, or something like 30m, 4h, 1d, {NEVER}"
        raise ConfigError(message, field="repeat")
    return float(seconds)
