"""Every snippet of the README and the docs runs, in order, in a folder of its own.

`python` blocks share one namespace. A block after `<!-- file: NAME -->` is written to that file.
In a `console` block each `$` line is run, and what stands below it is what it prints; `...` stands
for any text.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(
    r"(?:<!-- (?P<note>[^>]*?) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
#: Kinds that are shown, not run: pictures, data, and commands that take the machine over.
SHOWN = {"text", "yaml", "json"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    names: dict[str, object] = {"__name__": "snippet"}
    for block in BLOCK.finditer(page.read_text()):
        kind, text, note = block["kind"], block["text"], block["note"] or ""
        if note.startswith("file: "):
            Path(note[6:]).write_text(text)
        elif kind == "python":
            exec(compile(text, str(page), "exec"), names)
        elif kind == "console":
            run_console(text)
        else:
            assert kind in SHOWN, f"{page.name}: a {kind} block is neither run nor shown"


def run_console(text: str) -> None:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = f"{command[:-1]} {more.removeprefix('> ')}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        pattern = ".*".join(re.escape(piece) for piece in expected.strip().split("..."))
        shown = (done.stdout + done.stderr).strip()
        assert re.fullmatch(pattern, shown, re.DOTALL), f"$ {command}\n{shown}\n≠\n{expected}"


def test_docs_have_snippets() -> None:
    found = {block["kind"] for page in PAGES for block in BLOCK.finditer(page.read_text())}
    assert {"python", "console", "yaml"} <= found
