"""Export a run as JUnit XML, JSON, CSV, Parquet, Markdown or HTML, chosen by the file's ending.

Rows are streamed from the store. A file appears complete or not at all.
"""

import csv
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

import msgspec

from fourscore.core import ConfigError, Score, Signal
from fourscore.core.extras import require_extra
from fourscore.core.trace import as_text
from fourscore.judges.calibrated_rate import describe_corrected_rate
from fourscore.report.run_page import write_report
from fourscore.report.summary_text import describe_canaries, describe_unmeasured
from fourscore.stats.summary_counters import explain_score
from fourscore.stores.run import RunInfo, StoredRow
from fourscore.stores.sqlite import Store

HELP = "also write the results to this file: .xml (JUnit), .json, .csv, .parquet, .md or .html"

COLUMNS = (
    "case_id",
    "repeat",
    "status",
    "passed",
    "value",
    "reward",
    "reason",
    "input",
    "output",
    "expected",
    "tags",
    "complexity",
    "group",
    "seconds",
)
#: Before the names of the columns that have the value and the reason of each dimension.
VALUE, REASON = "signal_", "reason_"
#: Characters that XML 1.0 does not allow.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: A spreadsheet reads a cell that begins with one of these as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Write = Callable[[Path, Store, RunInfo, dict[str, Any]], None]


def check_paths(paths: list[str]) -> None:
    """Raise `ConfigError` for a file that cannot be written, before the run starts."""
    for path in paths:
        if Path(path).suffix not in FORMATS:
            known = ", ".join(FORMATS)
            raise ConfigError(f"unknown ending; use one of {known}", file=path, field="--out")
        if not Path(path).resolve().parent.is_dir():
            raise ConfigError("its folder does not exist", file=path, field="--out")
        if Path(path).suffix == ".parquet":
            require_extra("parquet", f"--out {path}")


def write_files(paths: list[str], store: Store, info: RunInfo, document: dict[str, Any]) -> None:
    """Write the run to each of the files."""
    for path in paths:
        target = Path(path).resolve()
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            FORMATS[target.suffix](draft, store, info, document)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)


def _rows(store: Store, info: RunInfo) -> Iterator[StoredRow]:
    return (row for row in store.rows(info.id, info.rubric_fingerprint) if row.score is not None)


def _record(row: StoredRow) -> dict[str, Any]:
    score = row.score
    assert score is not None
    return {
        "case_id": row.case.id,
        "repeat": row.repeat,
        "status": str(score.status),
        "passed": score.passed,
        "value": score.value,
        "reward": score.reward,
        "reason": _reason(score),
        "input": as_text(row.case.input),
        "output": as_text(row.trace.output),
        "expected": as_text(row.case.expected),
        "tags": ",".join(row.case.tags),
        "complexity": row.case.complexity,
        "group": row.case.group,
        "seconds": row.trace.seconds,
    }


def _reason(score: Score) -> str:
    """Return the reason of a score; for a failure without one, its lowest signal."""
    return score.reason or ("" if score.passed else explain_score(score))


def _add_dimensions(row: StoredRow, names: list[str]) -> dict[str, Any]:
    """Return the record of a row with the value and the reason of each dimension."""
    assert row.score is not None
    signals = {signal.name: signal for signal in row.score.signals}
    record = _record(row)
    for name in names:
        signal = signals.get(name)
        record[f"{VALUE}{name}"] = None if signal is None else signal.value
        record[f"{REASON}{name}"] = None if signal is None else _signal_reason(signal)
    return record


def _signal_reason(signal: Signal) -> str:
    return signal.reason or ("" if signal.fault is None else signal.fault.message)


def _json(path: Path, store: Store, info: RunInfo, document: dict[str, Any]) -> None:
    """Write the summary, and every row with its signals."""
    encode = msgspec.json.Encoder().encode
    with path.open("wb") as out:
        head = encode({"run": msgspec.to_builtins(info), "summary": document})
        out.write(head[:-1] + b',"rows":[')
        for index, row in enumerate(_rows(store, info)):
            out.write(b",\n" if index else b"\n")
            more = {"checks": row.case.checks, "turns": row.case.turns}
            signals = row.score.signals if row.score else ()
            out.write(encode({**_record(row), **more, "signals": signals}))
        out.write(b"\n]}\n")


def _csv(path: Path, store: Store, info: RunInfo, document: dict[str, Any]) -> None:
    names = list(document["dimensions"])
    with path.open("w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        table.writerow([*COLUMNS, *_dimension_columns(names)])
        for row in _rows(store, info):
            table.writerow([_cell(cell) for cell in _add_dimensions(row, names).values()])


def _dimension_columns(names: list[str]) -> list[str]:
    return [f"{prefix}{name}" for name in names for prefix in (VALUE, REASON)]


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def _parquet(path: Path, store: Store, info: RunInfo, document: dict[str, Any]) -> None:
    import pyarrow as arrow
    from pyarrow import parquet

    names = list(document["dimensions"])
    kinds: dict[str, Any] = dict.fromkeys(COLUMNS, arrow.string())
    kinds |= {"repeat": arrow.int64(), "passed": arrow.bool_()}
    kinds |= dict.fromkeys(("value", "reward", "seconds"), arrow.float64())
    for column in _dimension_columns(names):
        kinds[column] = arrow.float64() if column.startswith(VALUE) else arrow.string()
    schema = arrow.schema(list(kinds.items()))
    with parquet.ParquetWriter(path, schema) as out:
        batch: list[dict[str, Any]] = []
        for row in _rows(store, info):
            batch.append(_add_dimensions(row, names))
            if len(batch) >= 5_000:
                out.write_table(arrow.Table.from_pylist(batch, schema))
                batch = []
        out.write_table(arrow.Table.from_pylist(batch, schema))


def _junit(path: Path, store: Store, info: RunInfo, document: dict[str, Any]) -> None:
    """Write JUnit XML: not passed is a failure, not measured an error."""
    with _xml(path) as out:
        errors = document["planned"] - document["total_tests"]
        out.write(
            f"<testsuites><testsuite name={_attribute(info.name or 'fourscore')} "
            f'tests="{document["planned"]}" failures="{document["failed"]}" errors="{errors}">\n'
        )
        out.write(_properties(document))
        for row in _rows(store, info):
            out.write(_testcase(row, info))
        out.write("</testsuite></testsuites>\n")


def _properties(document: dict[str, Any]) -> str:
    """Return what canaries showed of the judges, where the run had canaries."""
    if "judge_compromised" not in document:
        return ""
    properties = {"judge_compromised": str(document["judge_compromised"]).lower()}
    properties |= {f"canaries {line.name}": line.words for line in describe_canaries(document)}
    parts = (
        f"<property name={_attribute(k)} value={_attribute(v)}/>" for k, v in properties.items()
    )
    return f"<properties>{''.join(parts)}</properties>\n"


def _testcase(row: StoredRow, info: RunInfo) -> str:
    record = _record(row)
    name = record["case_id"] if info.repeats == 1 else f"{record['case_id']} [{row.repeat}]"
    opening = (
        f"<testcase classname={_attribute(info.agent)} name={_attribute(name)} "
        f'time="{record["seconds"] or 0:.3f}">'
    )
    if record["passed"]:
        return f"{opening}</testcase>\n"
    kind = "error" if record["passed"] is None else "failure"
    message = _attribute(record["reason"] or record["status"])
    body = escape(_replace_not_xml(record["output"][:2000]))
    return (
        f'{opening}<{kind} type="{record["status"]}" message={message}>{body}</{kind}></testcase>\n'
    )


@contextmanager
def _xml(path: Path) -> Iterator[IO[str]]:
    with path.open("w", encoding="utf-8") as out:
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        yield out


def _attribute(text: str) -> str:
    return quoteattr(_replace_not_xml(text))


def _replace_not_xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _markdown(path: Path, store: Store, info: RunInfo, document: dict[str, Any]) -> None:
    """Write the summary for a pull request, with the first failures."""
    rate, interval = document["pass_rate"], document["pass_rate_interval"]
    shown = "not measured" if rate is None else f"{rate:.1%} [{interval[0]:.1%}, {interval[1]:.1%}]"
    parts = " + ".join(f"{n} {status}" for status, n in document["statuses"].items() if n)
    lines = [
        f"### {escape_markdown(info.name or info.id)}: {shown}, n={document['total_tests']}",
        "",
        f"{document['planned']} planned = {parts}",
        "",
        *_corrected(document),
        *_canaries(document),
        *_groups(document),
        "| dimension | average | n |",
        "|---|---|---|",
    ]
    for name, line in document["dimensions"].items():
        missing = describe_unmeasured(line, document)
        average = missing if line["average"] is None else f"{line['average']:.3f}"
        n = f"{line['n']}, {missing}" if missing and line["n"] else line["n"]
        lines.append(f"| {escape_markdown(name)} | {average} | {n} |")
    lines += [
        f"- gate `{gate['gate']}`: {escape_markdown(gate['reason'])}"
        for gate in document.get("gates", [])
    ]
    failures = document["failures"][:20]
    if failures:
        lines += ["", "| failed | repeat | why |", "|---|---|---|"]
    for failure in failures:
        row = store.row(info.id, failure["id"], failure["repeat"], info.rubric_fingerprint)
        reason = _reason(row.score) if row and row.score else ""
        cells = (escape_markdown(failure["id"]), failure["repeat"], escape_markdown(reason))
        lines.append("| {} | {} | {} |".format(*cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _corrected(document: dict[str, Any]) -> list[str]:
    text = describe_corrected_rate(document)
    return [f"- corrected pass rate: {escape_markdown(text)}", ""] if text else []


def _canaries(document: dict[str, Any]) -> list[str]:
    lines = [
        f"- {'canaries' if fine else '**JUDGE COMPROMISED**'}: {escape_markdown(name)} {words}"
        for fine, name, words in describe_canaries(document)
    ]
    return [*lines, ""] if lines else []


def _html(path: Path, store: Store, info: RunInfo, document: dict[str, Any]) -> None:
    """Write the HTML page."""
    write_report(path, store, info.id, judge=info.rubric_fingerprint, document=document)


def _groups(document: dict[str, Any]) -> list[str]:
    """Return the average score, and the pass rate of each tag and complexity."""
    average, interval = document["average_score"], document["average_score_interval"]
    lines = []
    if average is not None:
        ends = f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else ""
        lines.append(f"- average score {average:.3f}{ends}, n={document['average_score_n']}")
    for kind in ("tag", "complexity"):
        for name, line in document[f"by_{kind}"].items():
            if line["pass_rate"] is not None:
                rate = f"{line['pass_rate']:.1%}, n={line['total_tests']}"
                lines.append(f"- {kind} {escape_markdown(name)}: {rate}")
    return [*lines, ""] if lines else []


def escape_markdown(text: str) -> str:
    """Return foreign text for a table cell: no markup, no line breaks, at most 200 characters."""
    cut = " ".join(text.split())[:200]
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&])", r"\\\1", cut)


FORMATS: dict[str, Write] = {
    ".xml": _junit,
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
    ".md": _markdown,
    ".html": _html,
}
