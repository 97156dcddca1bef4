"""What one serving process has counted since its start, as Prometheus' text."""

import os
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import Metric

#: The path of requests to no known route: what a client makes up is no label.
OTHER = "other"
_PREFIX = "fourscore_server_"


class ServerMetrics:
    """Counts requests and scores; a collector for `prometheus-client`."""

    def __init__(self, processes: int) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.scores: Counter[str] = Counter()
        self.under_way = 0
        # A scrape reaches any one of several processes, and each has its own counters.
        self._labels = {"process": str(os.getpid())} if processes > 1 else {}

    def make_text(self) -> str:
        """Return the text of a scrape."""
        from prometheus_client import CollectorRegistry, generate_latest  # takes 150 ms

        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        return generate_latest(registry).decode()

    def collect(self) -> "list[Metric]":
        from prometheus_client import Metric

        requests = Metric(
            f"{_PREFIX}requests", "Requests answered, by route and status.", "counter"
        )
        for (path, status), n in sorted(self.requests.items()):
            labels = {"path": path, "status": str(status), **self._labels}
            requests.add_sample(f"{_PREFIX}requests_total", labels, n)
        scores = Metric(f"{_PREFIX}scores", "Outputs scored for rewards, by status.", "counter")
        for name, n in sorted(self.scores.items()):
            scores.add_sample(f"{_PREFIX}scores_total", {"status": name, **self._labels}, n)
        help_text = "Requests whose body is being read or judged."
        under_way = Metric(f"{_PREFIX}requests_under_way", help_text, "gauge")
        under_way.add_sample(f"{_PREFIX}requests_under_way", self._labels, self.under_way)
        return [requests, scores, under_way]
