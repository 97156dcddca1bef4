"""Renders the pictures of the docs: the panel of the demo, as a terminal shows it.

python docs/images/render.py
"""

import io
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, DIMMED_MONOKAI

from fourscore.report.run_panel import print_run
from fourscore.stores.sqlite import Store
from fourscore.test.run import summarize_run

HERE = Path(__file__).parent
THEMES = {"light": DEFAULT_TERMINAL_THEME, "dark": DIMMED_MONOKAI}


def main() -> None:
    command = str(Path(sys.executable).with_name("fourscore"))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([command, "demo"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with Store(Path(folder) / "fourscore-demo" / "runs.db", make=False) as store:
            (info,) = store.runs()
            document = {"gates": [], **summarize_run(store, info.id)}
    for width in (80, 140):
        for name, theme in THEMES.items():
            out = Console(
                file=io.StringIO(), record=True, width=width, force_terminal=True, highlight=False
            )
            print_run(info, document, seconds=1.3, to=out)
            path = HERE / f"demo-{width}-{name}.svg"
            out.save_svg(str(path), title="fourscore demo", theme=theme)
            print(path.name)


if __name__ == "__main__":
    main()
