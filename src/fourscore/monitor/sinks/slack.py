"""Sends alerts to Slack, or to Mattermost, Rocket.Chat and Discord, which accept Slack's webhooks.

Names and ids come with the traffic and are untrusted. `&`, `<` and `>` are escaped, so that Slack
finds no link or mention in them; for the other services they are put between backticks.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from fourscore.monitor.alert_text import facts, headline, one_line
from fourscore.monitor.alerts import Notice, Policy
from fourscore.monitor.sinks.http import Address
from fourscore.monitor.sinks.secrets import Secret

SIGNS = {"warning": ":warning:", "critical": ":rotating_light:"}
OVER = ":white_check_mark:"
#: Slack cuts a message beyond this many characters.
MAX_TEXT = 39_000


class Slack:
    """A sink for Slack, up to 20 alerts in one message. The URL is a secret."""

    together = 20

    def __init__(
        self, url: str | Secret, name: str = "slack", *, policy: Policy | None = None
    ) -> None:
        self.name, self.policy = name, policy or Policy()
        self._address = Address(url)

    def send(self, notices: Sequence[Notice]) -> None:
        body = msgspec.json.encode(make_message(notices))
        self._address.post(body, {"content-type": "application/json", "user-agent": "fourscore"})


def make_message(notices: Sequence[Notice]) -> dict[str, Any]:
    """Return the JSON body of the request to Slack."""
    text = "\n\n".join(map(_format_notice, notices))
    return {"text": text[:MAX_TEXT], "unfurl_links": False, "unfurl_media": False, "parse": "none"}


def _format_notice(notice: Notice) -> str:
    sign = SIGNS[notice.severity] if notice.state == "firing" else OVER
    lines = [f"{sign} *{headline(notice, quote)}*"]
    lines += [f"{label}: {escape(value)}" for label, value in facts(notice, _mark).items()]
    return "\n".join(lines).replace(_OPEN, "`").replace(_CLOSE, "`")


#: Placeholders for backticks until all text is escaped; they are removed from untrusted text.
_OPEN, _CLOSE = "\ue000", "\ue001"


def _mark(text: str) -> str:
    return f"{_OPEN}{_strip_marks(text)}{_CLOSE}"


def quote(text: str) -> str:
    """Return untrusted text as code, without links or mentions."""
    return f"`{escape(_strip_marks(text))}`"


def _strip_marks(text: str) -> str:
    return one_line(text).replace("`", "'").replace(_OPEN, "").replace(_CLOSE, "") or " "


def escape(text: str) -> str:
    """Escape `&`, `<` and `>`, which are special for Slack."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
