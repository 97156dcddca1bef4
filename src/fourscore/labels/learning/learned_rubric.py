"""The rubric file that a learning run writes, for use in every phase.

If something was learned, its judge is `criteria` with weights, or `listwise` with the criteria in
one text. If not, it is the plain prompt (`rating` or `listwise`), and the file says so: criteria
that were not shown to help are listed for people to see, and judge nothing.
"""

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from fourscore.core import Usage
from fourscore.core.frozen import thaw
from fourscore.formats.atomic_file import open_atomic
from fourscore.formats.labelled_samples import SampleFile
from fourscore.labels.learning.choose_criteria import ChosenCriteria, find_value_range
from fourscore.labels.learning.data_split import DataSplit
from fourscore.labels.learning.held_out_report import join_criteria, normalize_weights
from fourscore.labels.learning.settings import LearningSettings
from fourscore.stats.regression import LinearFit

LEARNED, NOTHING = "learned", "nothing was learned"
#: The dimension of a rubric without themes.
DIMENSION = {"pointwise": "quality", "listwise": "ranking"}
#: Names of themes with the positions of their criteria.
Themes = Sequence[tuple[str, Sequence[int]]]


class LearningResult(msgspec.Struct, frozen=True, kw_only=True):
    """What the rounds of a run chose and rejected, and why they stopped.

    `verdicts` counts the answers of the model to whether a criterion holds.
    """

    choice: ChosenCriteria = ChosenCriteria()
    rejected: tuple[str, ...] = ()
    rounds: int = 0
    stopped: str
    verdicts: int = 0


def is_measured(document: Mapping[str, Any]) -> bool:
    """Whether the outcome of a learning run rests on verdicts of the model.

    Earlier versions kept "nothing was learned" where the model had given none.
    """
    learned = document["learned"]
    return learned.get("outcome") == LEARNED or bool(learned.get("verdicts"))


def sort_by_weight(choice: ChosenCriteria) -> ChosenCriteria:
    """Return the same criteria, the one with the largest weight first."""
    order = sorted(range(len(choice.chosen)), key=lambda at: -choice.fit.weights[at])
    fit = LinearFit(choice.fit.floor, tuple(choice.fit.weights[at] for at in order))
    chosen = tuple(choice.chosen[at] for at in order)
    return msgspec.structs.replace(choice, chosen=chosen, fit=fit)


def make_learned_document(
    samples: SampleFile,
    settings: LearningSettings,
    split: DataSplit,
    result: LearningResult,
    *,
    choice: ChosenCriteria | None,
    themes: Themes,
    figures: dict[str, Any],
    usage: Usage,
) -> dict[str, Any]:
    """Return the rubric document of a run; `choice` is None if nothing was learned."""
    unproven = result.choice.chosen if choice is None else ()
    if choice is not None and settings.mode == "listwise":
        choice = sort_by_weight(choice)
    learned: dict[str, Any] = {
        "outcome": NOTHING if choice is None else LEARNED,
        "why": figures["why"],
        "mode": settings.mode,
        "model": settings.pool_model.name,
        "language": settings.language,
        "scale": list(settings.bounds),
        "seed": settings.seed,
        "data": {
            "file": Path(samples.path).name,
            "digest": samples.digest,
            "samples": len(samples),
            "repeated": samples.repeated,
            "parts": split.count(),
        },
        "prompts": settings.prompts(),
        "rounds": result.rounds,
        "stopped": result.stopped,
        "verdicts": result.verdicts,
        "agreement_on_selection": {
            "value": round(result.choice.agreement, 4),
            "n": result.choice.n,
        },
        "figures": {key: value for key, value in figures.items() if key != "why"},
        "cost": msgspec.to_builtins(usage),
        "fingerprint": settings.fingerprint(samples.digest),
    }
    if choice is not None and settings.mode == "listwise":
        learned["criteria"] = [one._asdict() for one in choice.chosen]
    if unproven:
        learned["unproven"] = [one._asdict() for one in unproven]
    if result.rejected:
        learned["rejected"] = list(result.rejected)
    return make_rubric_document(settings, make_dimensions(settings, choice, themes), learned)


def make_dimensions(
    settings: LearningSettings, choice: ChosenCriteria | None, themes: Themes
) -> dict[str, Any]:
    """Return the dimensions of the rubric; without a choice, those of the plain prompt."""
    listwise = settings.mode == "listwise"
    options = _make_options(settings)
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
    shares = normalize_weights(choice)
    lines = [
        {"text": one.text, "weight": share, **({} if one.expect == "yes" else {"expect": "no"})}
        for one, share in zip(choice.chosen, shares, strict=True)
    ]
    between = list(find_value_range(choice.fit))
    if not themes:
        return {name: _make_criteria(options, lines, between)}
    # The mean over themes by weight is the mean over all criteria, so the values are the same.
    found: dict[str, Any] = {}
    for theme, members in themes:
        weight = round(sum(shares[place] for place in members), 3)
        inner = _make_criteria(options, [lines[place] for place in members], between)
        found[_make_name(theme, found)] = {"weight": weight, "description": theme, **inner}
    return found


def _make_criteria(
    options: dict[str, Any], lines: list[Any], between: list[float]
) -> dict[str, Any]:
    return {"judge": "criteria", "with": {**options, "criteria": lines, "between": between}}


def _make_options(settings: LearningSettings) -> dict[str, Any]:
    model = settings.model if isinstance(settings.model, str) else settings.model.name
    # API keys are never written: who uses the file has to have one.
    kept = {key: value for key, value in settings.settings.items() if key == "base_url"}
    options: dict[str, Any] = {"model": model, "language": settings.language}
    if settings.bind != "reply":
        options["bind"] = settings.bind
    return {**options, "settings": kept} if kept else options


def _make_name(theme: str, taken: dict[str, Any]) -> str:
    """Return a theme as a dimension's name: one word that is not taken yet."""
    word = re.sub(r"\W+", "_", theme.casefold()).strip("_") or "theme"
    found, again = word, 2
    while found in taken:
        found, again = f"{word}_{again}", again + 1
    return found


def make_rubric_document(
    settings: LearningSettings, dimensions: dict[str, Any], learned: dict[str, Any]
) -> dict[str, Any]:
    """Return the document of a rubric file with these dimensions and this section `learned`."""
    return {
        "name": settings.name,
        "description": learned["outcome"],
        "pass_threshold": settings.threshold,
        "dimensions": dimensions,
        "learned": learned,
    }


def format_yaml(document: dict[str, Any]) -> str:
    """Return the text of the rubric file."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = 100
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = io.StringIO()
    stream.write(f"# {document['learned']['outcome']}: {document['learned']['why']}\n")
    yaml.dump(_quote_booleans(thaw(document)), stream)
    return stream.getvalue()


def _quote_booleans(value: Any) -> Any:
    """Put quotation marks around words that YAML 1.1 readers take for true or false."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    if isinstance(value, dict):
        return {key: _quote_booleans(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_quote_booleans(item) for item in value]
    return DoubleQuotedScalarString(value) if value in ("yes", "no", "on", "off") else value


def write_learned_rubric(path: Path, document: dict[str, Any]) -> None:
    """Write the rubric file, complete or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_atomic(str(path)) as stream:
        stream.write(format_yaml(document).encode())
