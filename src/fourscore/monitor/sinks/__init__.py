"""Where alerts go: a log, a webhook, Slack, Alertmanager. Each is a class with `send(notices)`.

    sinks = read_sinks("monitor.yaml")

A sink says nothing of its secret and its address, neither in errors nor in `repr`.
"""

from fourscore.monitor.sinks.alertmanager import Alertmanager
from fourscore.monitor.sinks.log import Log
from fourscore.monitor.sinks.settings import read_sinks
from fourscore.monitor.sinks.slack import Slack
from fourscore.monitor.sinks.webhook import Webhook

__all__ = ["Alertmanager", "Log", "Slack", "Webhook", "read_sinks"]
