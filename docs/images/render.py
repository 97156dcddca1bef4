"""Render the pictures of the docs: the demo's panel and report, and the example's lineage.

python docs/images/render.py

The panels need nothing; the pages need playwright and the system's Chromium.
"""

import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, DIMMED_MONOKAI

from fourscore.report.run_panel import print_run
from fourscore.stores.sqlite import Store
from fourscore.test.run import summarize_run

HERE = Path(__file__).parent
THEMES = {"light": DEFAULT_TERMINAL_THEME, "dark": DIMMED_MONOKAI}
COMMAND = str(Path(sys.executable).with_name("fourscore"))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(folder, "demo")
        render_panels(folder / "fourscore-demo" / "runs.db")
        run(folder, "evolve", "init", "parcels", "--example")
        run(folder, "evolve", "step", "parcels", "--generations", "20")
        run(folder, "evolve", "report", "parcels", "--out", "lineage.html")
        render_pages(folder / "fourscore-demo" / "report.html", folder / "lineage.html")


def run(folder: Path, *words: str) -> None:
    """Run a command in a folder, without its output."""
    silent = subprocess.DEVNULL
    subprocess.run([COMMAND, *words], cwd=folder, check=True, stdout=silent, stderr=silent)


def render_panels(path: Path) -> None:
    """Save the panel of the demo as SVG, as terminals of two widths and themes show it."""
    with Store(path, make=False) as store:
        (info,) = store.runs()
        document = {"gates": [], **summarize_run(store, info.id)}
    for width in (80, 140):
        for name, theme in THEMES.items():
            out = Console(
                file=io.StringIO(), record=True, width=width, force_terminal=True, highlight=False
            )
            print_run(info, document, seconds=1.3, to=out)
            picture = HERE / f"demo-{width}-{name}.svg"
            out.save_svg(str(picture), title="fourscore demo", theme=theme)
            print(picture.name)


def render_pages(report: Path, lineage: Path) -> None:
    """Save screenshots of the demo's report and of the example's lineage."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        for page, name, width, height, scheme in (
            (report, "report-desktop-light", 1280, 1000, "light"),
            (report, "report-phone-dark", 390, 844, "dark"),
            (lineage, "lineage-desktop-light", 1280, 900, "light"),
            (lineage, "lineage-phone-dark", 400, 850, "dark"),
        ):
            options: dict[str, Any] = {"viewport": {"width": width, "height": height}}
            tab = browser.new_page(color_scheme=scheme, **options)
            opened = "#v2" if name == "lineage-phone-dark" else ""
            tab.goto(page.as_uri() + opened)
            tab.wait_for_selector("html[data-ready=yes]")
            whole = name == "lineage-desktop-light"
            tab.screenshot(path=HERE / f"{name}.png", full_page=whole)
            print(f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
