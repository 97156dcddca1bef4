"""Status, versions, history and decisions on a terminal. Texts and reasons are foreign: plain."""

from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from fourscore.formats.plain_text import make_printable
from fourscore.report.terminal import make_console, print_panel

COLOURS = {
    "active": "green",
    "branch": "cyan",
    "candidate": "yellow",
    "rejected": "red",
    "withdrawn": "dim",
    "retired": "",
}
#: Characters of a reason that are shown.
LONGEST = 160


def show_status(document: dict[str, Any], to: Console | None = None) -> None:
    """Print the active version, the decisions so far and whether a rollback is due."""
    back = document["must_roll_back"]
    parts: list[RenderableType] = [
        Text.assemble("active     ", (_named(document["active"]), "bold green")),
        Text(f"best       {document['best']}"),
        Text(f"versions   {document['versions']}, {_branches(document['branches'])}"),
        Text(f"decisions  {_decisions(document)}"),
        *_pending(document["pending"]),
        *_mutations(document["may_mutate"]),
    ]
    if back["yes"]:
        words = ("fourscore evolve rollback", "bold")
        text = Text.assemble("rollback   ", (make_printable(back["why"]), "red"), ": ", words)
        parts.append(text)
    if document["strategies"]:
        parts += [Text(), _strategies(document["strategies"])]
    colour = "red" if back["yes"] else "green"
    print_panel(
        to or make_console(),
        f"evolution in {make_printable(document['folder'], 80)}",
        parts,
        colour,
    )


def show_versions(documents: list[dict[str, Any]], to: Console | None = None) -> None:
    """Print a table of versions."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("version", "from", "status", "score", "n", "strategy", "risk", "file"):
        right = name in ("version", "from", "score", "n")
        table.add_column(name, justify="right" if right else "left")
    for each in documents:
        status = each["status"] + (", best" if each["best"] else "")
        table.add_row(
            str(each["number"]),
            "" if each["parent"] is None else str(each["parent"]),
            Text(status, COLOURS[each["status"]]),
            "" if each["score"] is None else f"{each['score']:.2f}",
            str(each["n"] or ""),
            make_printable(each["strategy"], 40),
            each["risk"] or "",
            each["file"],
        )
    print_panel(to or make_console(), f"versions: {len(documents)}", [table], "green")


def show_history(folder: str, events: list[dict[str, Any]], to: Console | None = None) -> None:
    """Print the events of an evolution, the newest first."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for event in events:
        at = event["at"].replace("T", " ").removesuffix("Z")
        table.add_row(at, event["event"], Text(_describe_event(event)))
    print_panel(
        to or make_console(),
        f"history of {make_printable(folder, 80)}, the newest first",
        [table],
        "green",
    )


def show_decision(document: dict[str, Any], to: Console | None = None) -> None:
    """Print whether a candidate was accepted, by which rule and why."""
    accepted = document["accepted"]
    word, colour = ("accepted", "green") if accepted else ("not accepted", "yellow")
    reason = document["reason"]
    parts = [
        Text.assemble("decision  ", (word, f"bold {colour}"), f"  {reason}"),
        Text(f"          {make_printable(document.get('why', ''), 300)}".rstrip()),
        Text(f"delta     {_number(document['delta'])}"),
    ]
    if document["rule"] == "literal":
        parts.append(Text("note      this rule ignores chance: see --rule paired"))
    elif document.get("more"):
        parts.append(Text(f"next      {document['more']} more pairs, then look again"))
    for words, count in document.get("left_out", {}).items():
        if count:
            parts.append(Text(f"left out  {count} {words.replace('_', ' ')}"))
    print_panel(to or make_console(), f"{document['rule']} rule", parts, colour)


def _named(version: dict[str, Any]) -> str:
    score = version["score"]
    text = "" if score is None else f"  score {score:.2f} (n={version['n']})"
    return f"{version['number']}  {version['file']}{text}"


def _branches(numbers: list[int]) -> str:
    return f"branches {', '.join(map(str, numbers))}" if numbers else "no branch"


def _decisions(document: dict[str, Any]) -> str:
    text = f"{document['decisions']}, {document['accepted']} accepted"
    if document["decisions"]:
        false = document["expected_false"]
        text += f"; if no candidate were better, at most {false:.2g} accepted by chance"
    return text


def _pending(version: dict[str, Any] | None) -> list[Text]:
    if version is None:
        return []
    strategy = make_printable(version["strategy"], 40)
    text = f"pending    {version['number']}  {strategy}, not decided yet"
    return [Text(text, "yellow")]


def _mutations(rulings: dict[str, dict[str, Any]]) -> list[Text]:
    if len({ruling["yes"] for ruling in rulings.values()}) == 1:
        rulings = {"any risk": rulings["low"]}
    lines = []
    for risk, ruling in rulings.items():
        answer = "allowed" if ruling["yes"] else f"no, {make_printable(ruling['why'])}"
        lines.append(Text(f"mutation   {risk}: {answer}"))
    return lines


def _strategies(found: dict[str, dict[str, int]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, record in found.items():
        text = f"{record['accepted']} of {record['tried']} accepted"
        table.add_row(f"  {make_printable(name, 40)}", text)
    return table


def _describe_event(event: dict[str, Any]) -> str:
    kind, number = event["event"], event.get("version")
    if kind == "decision":
        decision = event["decision"]
        delta = _number(decision.get("delta"))
        words = f"{number} against {event['against']}: {event['result']}, {delta}"
        return f"{words}; {make_printable(decision.get('why') or decision['reason'], LONGEST)}"
    if kind == "execution":
        failed = f", {event['error_rate']:.0%} failed" if event["error_rate"] else ""
        return f"{number}: {event['score']:.2f}, n={event['n']}{failed}"
    if kind == "candidate":
        words = f"{number} from {event['parent']} by {make_printable(event['strategy'], 40)}"
        return f"{words}, {event['risk']} risk{_why(event)}"
    if kind == "rollback":
        return f"{event['left']} to {number}{_why(event)}"
    if kind == "note":
        return make_printable(event["about"], LONGEST)
    return f"{number}{_why(event)}"


def _why(event: dict[str, Any]) -> str:
    why = event.get("why") or event.get("source") or ""
    return f": {make_printable(why, LONGEST)}" if why else ""


def _number(value: float | None) -> str:
    return "not measured" if value is None else f"{value:+.2f} points"
