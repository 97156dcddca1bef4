"""`fourscore evolve init --example`: a complete evolution that runs without a key.

The cases are generated here: one question for each combination of weight, country and day.
"""

import os
import runpy
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from fourscore.core import ConfigError
from fourscore.evolve.folder import Evolution

FILES = ("agent.py", "checks.py", "rubric.yaml", "prompt.md", "evolution.yaml")
CASES = "cases.jsonl"
#: The weights of the parcels, in kilograms.
WEIGHTS = range(1, 17)


def begin_example(folder: Path) -> Evolution:
    """Write the files of the example and start an evolution with its prompt as version 1."""
    taken = [name for name in (*FILES, CASES) if os.path.lexists(folder / name)]
    if taken:
        raise ConfigError(f"{taken[0]} exists already: name a new folder", file=str(folder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            (folder / name).write_text(_template(name).read_text("utf-8"), "utf-8")
        (folder / CASES).write_bytes(b"".join(_lines()))
    except OSError as error:
        place = os.fspath(error.filename or folder)
        raise ConfigError(error.strerror or "cannot be written", file=place) from None
    text = (folder / "prompt.md").read_text("utf-8")
    return Evolution.begin(folder, text, source="prompt.md")


def _template(name: str) -> Any:
    return resources.files("fourscore.cli") / "evolve_example_files" / name


def _lines() -> list[bytes]:
    """Return the cases as JSON lines, with the answers computed by the example's agent."""
    with resources.as_file(_template("agent.py")) as path:
        agent = runpy.run_path(str(path))
    lines = []
    for weight in WEIGHTS:
        for country, price in agent["PRICES"].items():
            for day in agent["DAYS"]:
                question = f"What does a parcel of {weight} kg to {country} cost, posted on {day}?"
                expected = {
                    "price": f"{price + weight * 0.5:.2f} euros",
                    "day": agent["arrival"](country, day),
                    "rule": f"rule {agent['rule'](weight)}",
                }
                case = {"id": f"{country.lower()}-{weight}-{day[:3].lower()}", "input": question}
                lines.append(msgspec.json.encode({**case, "expected": expected}) + b"\n")
    return lines
