"""Sinks, which receive alerts: log, webhook, Slack, Alertmanager. Each has `send(notices)`.

    sinks = read_sinks("monitor.yaml")

Errors and `repr` of a sink show neither its secret nor the path of its URL.
"""

from fourscore.monitor.sinks.alertmanager import Alertmanager
from fourscore.monitor.sinks.log import Log
from fourscore.monitor.sinks.settings import read_sinks
from fourscore.monitor.sinks.slack import Slack
from fourscore.monitor.sinks.webhook import Webhook

__all__ = ["Alertmanager", "Log", "Slack", "Webhook", "read_sinks"]
