"""Writes alerts to a log, with the standard library's `logging`."""

import logging
from collections.abc import Sequence

from fourscore.monitor.alert_text import facts, headline, one_line
from fourscore.monitor.alerts import Notice, Policy

LOG = logging.getLogger("fourscore.monitor.alerts")
LEVELS = {"warning": logging.WARNING, "critical": logging.ERROR}


class Log:
    """A sink that logs to `fourscore.monitor.alerts`; resolved alerts have the level info."""

    together = 1

    def __init__(self, name: str = "log", *, policy: Policy | None = None) -> None:
        self.name, self.policy = name, policy or Policy()

    def send(self, notices: Sequence[Notice]) -> None:
        for notice in notices:
            level = LEVELS[notice.severity] if notice.state == "firing" else logging.INFO
            details = "; ".join(f"{key} {value}" for key, value in facts(notice, one_line).items())
            LOG.log(level, "%s; %s", headline(notice, one_line), details)
