"""Alerts for Slack, and for what takes its incoming webhooks: Mattermost, Rocket.Chat, Discord.

Names and ids come with the traffic, and an agent may have had a hand in them. `&`, `<` and `>` are
escaped, so that nothing in them is a link or a mention for Slack; they stand between backticks,
where others look for neither.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from fourscore.monitor.alert_text import facts, headline, one_line
from fourscore.monitor.alerts import Notice, Policy
from fourscore.monitor.sinks.posting import Address
from fourscore.monitor.sinks.secret import Secret

SIGNS = {"warning": ":warning:", "critical": ":rotating_light:"}
OVER = ":white_check_mark:"
#: Slack cuts a message beyond this many characters.
LONGEST = 39_000


class Slack:
    """Up to 20 alerts in one message. The address is the secret."""

    together = 20

    def __init__(
        self, url: str | Secret, name: str = "slack", *, policy: Policy | None = None
    ) -> None:
        self.name, self.policy = name, policy or Policy()
        self._address = Address(url)

    def send(self, notices: Sequence[Notice]) -> None:
        body = msgspec.json.encode(message(notices))
        self._address.post(body, {"content-type": "application/json", "user-agent": "fourscore"})


def message(notices: Sequence[Notice]) -> dict[str, Any]:
    text = "\n\n".join(map(_told, notices))
    return {"text": text[:LONGEST], "unfurl_links": False, "unfurl_media": False, "parse": "none"}


def _told(notice: Notice) -> str:
    sign = SIGNS[notice.severity] if notice.state == "firing" else OVER
    lines = [f"{sign} *{headline(notice, quoted)}*"]
    lines += [f"{label}: {escaped(value)}" for label, value in facts(notice, _marked).items()]
    return "\n".join(lines).replace(_OPEN, "`").replace(_CLOSE, "`")


#: Stand for backticks until our own words are escaped as well; foreign text cannot have them.
_OPEN, _CLOSE = "\ue000", "\ue001"


def _marked(text: str) -> str:
    return f"{_OPEN}{_bare(text)}{_CLOSE}"


def quoted(text: str) -> str:
    """Foreign text that stands for itself."""
    return f"`{escaped(_bare(text))}`"


def _bare(text: str) -> str:
    return one_line(text).replace("`", "'").replace(_OPEN, "").replace(_CLOSE, "") or " "


def escaped(text: str) -> str:
    """The three characters that Slack reads as the beginning of something."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
