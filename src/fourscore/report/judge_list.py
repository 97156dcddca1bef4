"""The list of built-in judges as text for a terminal, and as a page of the documentation."""

from fourscore.judges.catalog import Entry

_HEAD = """# Built-in judges

Every built-in judge with its options. `fourscore judges` prints the same list, and `fourscore
judges NAME` one of them; `fourscore judges --markdown` writes this page from the docstrings.
"""
_CHECKS = """
## Plain checks

In a case, `checks: [{contains: Rome}]`: the value is the main option, `true` stands for none. In a
rubric, `{judge: contains, with: {text: Rome}}`. Thinking (`<think>…</think>`) is not part of an
answer. A check that has nothing to compare with does not apply.
"""


def write_page(entries: list[Entry]) -> str:
    """Return the list of judges as Markdown."""
    checks = [_write_section(one) for one in entries if one.kind == "check"]
    others = [_write_section(one) for one in entries if one.kind == "judge"]
    return "".join([_HEAD, _CHECKS, *checks, "\n## Other judges\n", *others])


def _write_section(entry: Entry) -> str:
    lines = [f"\n### {entry.name}\n\n{entry.description}\n"]
    if entry.by:
        lines.append(f"\nAlso with `by: {'` or `by: '.join(entry.by)}`.\n")
    if entry.options:
        lines.append("\n| option | type | default | |\n|---|---|---|---|\n")
    for option in entry.options:
        default = "required" if option.default is None else _quote(option.default)
        kind = option.type.replace("|", "\\|")
        about = option.description.replace("|", "\\|")
        lines.append(f"| `{option.name}` | {kind} | {default} | {about} |\n")
    return "".join([*lines, f"\n`{entry.example}`\n"])


def _quote(default: str) -> str:
    return f"`{default}`" if default not in ("", "null") else "none"


def write_list(entries: list[Entry]) -> str:
    """Return one line for each judge, under a heading for each kind."""
    width = max(len(one.name) for one in entries)
    lines = []
    for kind, heading in (("check", "plain checks"), ("judge", "other judges")):
        lines.append(f"{heading}\n")
        lines += [
            f"  {one.name:{width}}  {one.description.splitlines()[0]}\n"
            for one in entries
            if one.kind == kind
        ]
    return "".join([*lines, "\nfourscore judges NAME shows the options of one\n"])


def write_entry(entry: Entry) -> str:
    """Return a judge's description, its options with type and default, and an example."""
    lines = [f"{entry.name}: {entry.description}\n"]
    if entry.by:
        lines.append(f"\nalso with by: {' or by: '.join(entry.by)}\n")
    if entry.options:
        lines.append("\noptions\n")
    for option in entry.options:
        default = "required" if option.default is None else f"default {option.default or 'none'}"
        lines.append(f"  {option.name}  ({option.type}; {default})\n")
        if option.description:
            lines.append(f"      {option.description}\n")
    where = "in a case" if entry.kind == "check" else "in a rubric"
    return "".join([*lines, f"\nexample, {where}\n  {entry.example}\n"])
