"""Metrics as Prometheus' parser reads them, and the shipped dashboard and rules."""

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from fourscore.core import Case, ConfigError, DataError, Trace, Usage, judge
from fourscore.formats.yaml_file import read_yaml_file
from fourscore.monitor.delivery import Deliverer
from fourscore.monitor.grafana import FILES, HERE, write_files
from fourscore.monitor.metrics import FAMILIES, PREFIX, MonitorCollector, metrics_text
from fourscore.monitor.monitor import ProductionMonitor
from fourscore.monitor.sinks import Log
from fourscore.stats.classification import Confusion
from fourscore.stores.monitor import MonitorStore

HOSTILE = 'a"b\\c\nd{e="f"} 1 # TYPE x counter'


@judge
def fine(case: Case, trace: Trace) -> bool:
    if trace.answer == "broken":
        raise RuntimeError("the model is down")
    return trace.answer == "good"


@pytest.fixture
def store() -> Iterator[MonitorStore]:
    with MonitorStore(None) as store:
        yield store


def fill(store: MonitorStore, n: int, output: str = "good", name: str = "default") -> None:
    with ProductionMonitor(1.0, rubric=fine, store=store, name=name) as monitor:
        for number in range(n):
            tags = [HOSTILE, "x" * 200]
            monitor.sample_and_evaluate("q", output, id=f"{name}-{output}-{number}", tags=tags)


def scrape(text: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation
        assert family.type in ("counter", "gauge")
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def value(
    found: dict[str, list[tuple[dict[str, str], float]]], metric: str, /, **labels: str
) -> float:
    (only,) = [
        number
        for labels_found, number in found[PREFIX + metric]
        if labels.items() <= labels_found.items()
    ]
    return only


def test_metrics_have_the_values_of_the_store(store: MonitorStore) -> None:
    fill(store, 60)
    fill(store, 40, "bad")
    fill(store, 30, "broken")
    assert Deliverer(store, "default", [Log()]).deliver_due(2e9)["sent"] > 0
    found = scrape(metrics_text(store))
    assert value(found, "samples_total", status="scored") == 100
    assert value(found, "samples_total", status="judge_error") == 30
    assert value(found, "observed_total") == 130
    overall = {"kind": "overall"}
    assert value(found, "pass_rate", **overall) == pytest.approx(0.6)
    low, high = value(found, "pass_rate_low", **overall), value(found, "pass_rate_high", **overall)
    assert 0 < low < 0.6 < high < 1
    assert value(found, "average_score", **overall) == pytest.approx(0.6)
    assert value(found, "status", **overall) == 2
    assert value(found, "status", kind="judge") == 2
    assert value(found, "status", kind="drift", name="length") == -1
    assert value(found, "measured_total", kind="tag", name=HOSTILE) == 100
    assert value(found, "pass_rate", kind="dimension", name="fine") == pytest.approx(0.6)
    assert value(found, "judge_errors_total") == 30
    assert value(found, "judge_error_rate") == pytest.approx(30 / 130)
    assert value(found, "judge_cost_dollars_total") == 0
    assert value(found, "alerts_open", severity="critical") >= 2
    assert value(found, "not_sampled_total", reason="dropped") == 0
    assert value(found, "spans_total", outcome="late") == 0
    assert value(found, "deliveries_total", outcome="sent") > 0
    assert value(found, "deliveries_total", outcome="failed") == 0
    for points in found.values():
        for labels, number in points:
            assert math.isfinite(number)
            assert all(len(text) <= 80 for text in labels.values())


def test_every_label_set_appears_once(store: MonitorStore) -> None:
    fill(store, 30, name="a")
    fill(store, 30, name="b")
    for name, points in scrape(metrics_text(store)).items():
        labels = [tuple(sorted(labels_found.items())) for labels_found, _ in points]
        assert len(labels) == len(set(labels)), name
    assert {
        labels_found["monitor"]
        for labels_found, _ in scrape(metrics_text(store, "a"))[PREFIX + "status"]
    } == {"a"}


def test_empty_store_has_no_metrics(store: MonitorStore) -> None:
    assert metrics_text(store) == ""
    with pytest.raises(DataError, match="no monitor 'x'"):
        metrics_text(store, "x")


def test_judge_cost_and_corrected_rate(store: MonitorStore) -> None:
    import msgspec

    fill(store, 50)
    fill(store, 10, "bad")
    state = msgspec.json.decode(store.state("default") or b"")
    cost = Usage(calls=7, input_tokens=100, output_tokens=20, dollars=0.25)
    state["cost"] = msgspec.to_builtins(cost)
    from fourscore.stores.monitor_rows import SampleRow

    entry = SampleRow(
        id="z", at=0.0, drawn=True, status="skipped", passed=None, value=None, body=b"{}"
    )
    store.commit("default", [entry], lambda *_: (msgspec.json.encode(state), ()))
    errors = Confusion(true_pass=45, false_fail=5, true_fail=40, false_pass=10)
    found = scrape(metrics_text(store, calibration=errors))
    assert value(found, "judge_calls_total") == 7
    assert value(found, "judge_tokens_total", direction="output") == 20
    assert value(found, "judge_cost_dollars_total") == 0.25
    assert value(found, "corrected_pass_rate") == pytest.approx(
        (50 / 60 + 0.8 - 1) / (0.9 + 0.8 - 1)
    )


def test_text_has_help_type_names_and_labels(store: MonitorStore) -> None:
    fill(store, 3)
    lines = metrics_text(store).splitlines()
    assert lines[0].startswith("# HELP fourscore_monitor_samples_total Samples by status")
    assert lines[1:3] == [
        "# TYPE fourscore_monitor_samples_total counter",
        'fourscore_monitor_samples_total{monitor="default",status="scored"} 3.0',
    ]
    assert 'fourscore_monitor_measured_total{kind="overall",monitor="default",name=""} 3.0' in lines


def test_collector_can_be_registered_with_other_metrics(store: MonitorStore) -> None:
    fill(store, 3)
    registry = CollectorRegistry()
    registry.register(MonitorCollector(store))
    assert generate_latest(registry).decode() == metrics_text(store)


def exported_names(store: MonitorStore) -> set[str]:
    """Return the names of all metrics."""
    return {PREFIX + name for name in FAMILIES}


def test_dashboard_and_rules_use_only_exported_metrics(store: MonitorStore) -> None:
    known = exported_names(store)
    for file in FILES:
        used = set(re.findall(r"fourscore_monitor_\w+", (HERE / file).read_text()))
        assert len(used) >= 4
        assert used <= known, file
    dashboard = (HERE / "dashboard.json").read_text()
    assert known <= set(re.findall(r"fourscore_monitor_\w+", dashboard))


def test_every_family_is_exported_by_some_store(store: MonitorStore) -> None:
    """Otherwise a panel of the dashboard would always be empty."""
    with ProductionMonitor(
        1.0, rubric=fine, store=store, thresholds={"drift_window": 20}
    ) as monitor:
        for number in range(90):
            output = "good" if number < 45 else "bad"
            monitor.sample_and_evaluate("q", output, id=str(number), tags=["t"])
    assert Deliverer(store, "default", [Log()]).deliver_due(2e9)["sent"] > 0
    store.spans.mark_done(monitor="default", counts={"traces_scored": 1})
    errors = Confusion(true_pass=45, false_fail=5, true_fail=40, false_pass=10)
    assert set(scrape(metrics_text(store, calibration=errors))) == exported_names(store)


def test_dashboard_panels_are_complete_and_do_not_overlap() -> None:
    dashboard = json.loads((HERE / "dashboard.json").read_text())
    variables = {one["name"]: one for one in dashboard["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    assert variables["datasource"]["query"] == "prometheus"
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not taken & cells, panel["title"]
        taken |= cells
    for panel in panels:
        assert panel["datasource"]["uid"] == "${datasource}"
        assert panel["targets"]
        assert panel["description"]
        for target in panel["targets"]:
            assert target["expr"].count("(") == target["expr"].count(")")


def test_rules_have_the_fields_of_prometheus() -> None:
    (group,) = read_yaml_file(str(HERE / "rules.yaml")).value["groups"]
    names = [rule["alert"] for rule in group["rules"]]
    assert len(set(names)) == len(names) >= 5
    for rule in group["rules"]:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"]
    judge_rule = next(rule for rule in group["rules"] if rule["alert"] == "FourscoreJudgeFailing")
    assert "says nothing about the agent" in judge_rule["annotations"]["summary"]


def test_files_are_copied_and_changed_ones_kept(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "grafana"
    files = write_files(str(target))
    assert [file.name for file in files] == list(FILES)
    assert json.loads(files[0].read_text())["uid"] == "fourscore-monitor"
    assert write_files(str(target)) == files  # files with the same content may be overwritten
    files[1].write_text("mine")
    with pytest.raises(ConfigError, match="--force"):
        write_files(str(target))
    assert files[1].read_text() == "mine"
    write_files(str(target), force=True)
    assert files[1].read_text() != "mine"
    with pytest.raises(ConfigError):
        write_files(str(files[0]))
