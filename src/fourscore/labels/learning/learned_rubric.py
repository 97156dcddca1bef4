"""The rubric that comes of a learning run, as a file that every phase can use.

Where something was learned its judge is `criteria` with weights, or `listwise` with the criteria in
its words. Where nothing was, it is the plain prompt, and the file says so: criteria that were not
shown to help are kept for people to see, and judge nothing.
"""

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fourscore.core.frozen import thaw
from fourscore.formats.atomic_file import open_atomic
from fourscore.labels.learning.choose_criteria import Choice, find_value_range
from fourscore.labels.learning.held_out_report import join_criteria, shares_of
from fourscore.labels.learning.settings import Learning

#: The dimension of a rubric without themes.
DIMENSION = {"pointwise": "quality", "listwise": "ranking"}
Themes = Sequence[tuple[str, Sequence[int]]]


def make_dimensions(settings: Learning, choice: Choice | None, themes: Themes) -> dict[str, Any]:
    """The dimensions of the rubric; without a choice, those of the plain prompt."""
    listwise = settings.mode == "listwise"
    options = _options(settings)
    name = DIMENSION[settings.mode]
    if choice is None and listwise:
        return {name: {"judge": "listwise", "with": options}}
    if choice is None:
        plain = settings.rating()
        scale = {"min_score": plain.min_score, "max_score": plain.max_score}
        return {name: {"judge": "rating", "with": {**options, **scale}}}
    if listwise:
        text = join_criteria(choice.chosen, settings.language)
        return {name: {"judge": "listwise", "with": {**options, "criterion": text}}}
    shares = shares_of(choice)
    lines = [
        {"text": one.text, "weight": share, **({} if one.expect == "yes" else {"expect": "no"})}
        for one, share in zip(choice.chosen, shares, strict=True)
    ]
    between = list(find_value_range(choice.fit))
    if not themes:
        return {name: _criteria(options, lines, between)}
    # A mean over themes by their weight is the mean over all criteria: the values are the same.
    found: dict[str, Any] = {}
    for theme, members in themes:
        weight = round(sum(shares[place] for place in members), 3)
        inner = _criteria(options, [lines[place] for place in members], between)
        found[_name(theme, found)] = {"weight": weight, "description": theme, **inner}
    return found


def _criteria(options: dict[str, Any], lines: list[Any], between: list[float]) -> dict[str, Any]:
    return {"judge": "criteria", "with": {**options, "criteria": lines, "between": between}}


def _options(settings: Learning) -> dict[str, Any]:
    model = settings.model if isinstance(settings.model, str) else settings.model.name
    # Keys are found anew by whoever uses the file, and are in no file of ours.
    kept = {key: value for key, value in settings.settings.items() if key == "base_url"}
    told: dict[str, Any] = {"model": model, "language": settings.language}
    if settings.bind != "reply":
        told["bind"] = settings.bind
    return {**told, "settings": kept} if kept else told


def _name(theme: str, taken: dict[str, Any]) -> str:
    """A theme as a dimension's name: one word, and not one that is there already."""
    word = re.sub(r"\W+", "_", theme.casefold()).strip("_") or "theme"
    found, again = word, 2
    while found in taken:
        found, again = f"{word}_{again}", again + 1
    return found


def make_rubric_document(
    settings: Learning, dimensions: dict[str, Any], learned: dict[str, Any]
) -> dict[str, Any]:
    return {
        "name": settings.name,
        "description": learned["outcome"],
        "pass_threshold": settings.threshold,
        "dimensions": dimensions,
        "learned": learned,
    }


def format_yaml(document: dict[str, Any]) -> str:
    """The file's text."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = 100
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = io.StringIO()
    stream.write(f"# {document['learned']['outcome']}: {document['learned']['why']}\n")
    yaml.dump(_quoted(thaw(document)), stream)
    return stream.getvalue()


def _quoted(value: Any) -> Any:
    """With marks around words that older readers of YAML take for true or false."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    if isinstance(value, dict):
        return {key: _quoted(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_quoted(item) for item in value]
    return DoubleQuotedScalarString(value) if value in ("yes", "no", "on", "off") else value


def write_learned_rubric(path: Path, document: dict[str, Any]) -> None:
    """Complete under its name, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_atomic(str(path)) as stream:
        stream.write(format_yaml(document).encode())
