"""The fields of a rubric file as types: what the reader accepts and the JSON Schema publishes.

Only the shape is here. Judges are loaded and weights are applied elsewhere.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from fourscore.core import suggest_known
from fourscore.core.levels import LEVELS

Share = Annotated[float, Meta(ge=0, le=1)]


class RubricLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One dimension: what is measured, by which judge, and how much it counts."""

    judge: Annotated[
        str | None,
        Meta(
            description="a built-in judge, module->name, or file.py->name beside this file; "
            "without one, the built-in judge with the dimension's name",
            examples=["math", "checks.py->house_style"],
        ),
    ] = None
    weight: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description="its part in the mean; 1 where absent"),
    ] = None
    gate: Annotated[
        Share | None, Meta(description="below this the case fails, whatever the mean")
    ] = None
    description: Annotated[str, Meta(description="what it measures, for people")] = ""
    levels: Annotated[
        dict[str, Share], Meta(description="names for values, such as {excellent: 1.0, good: 0.8}")
    ] = {}
    level_descriptions: Annotated[
        dict[str, Any], Meta(description="what each level looks like, for people and model judges")
    ] = {}
    options: Annotated[dict[str, Any], Meta(description="options of the judge")] = msgspec.field(
        name="with", default_factory=dict
    )

    def __post_init__(self) -> None:
        levels = self.levels or LEVELS
        for level in self.level_descriptions:
            if level not in levels:
                hint = suggest_known(level, levels)
                raise ValueError(f"level_descriptions.{level}: there is no such level; {hint}")


class Counted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A share with its counts."""

    right: Annotated[int, Meta(ge=0)]
    of: Annotated[int, Meta(ge=1)]
    value: Annotated[Share | None, Meta(description="right / of, for people")] = None

    def __post_init__(self) -> None:
        if self.right > self.of:
            raise ValueError(f"right: {self.right} of {self.of}")


class RubricCalibration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The error rates of this rubric, measured by `fourscore calibrate --store-in`."""

    judge: Annotated[str, Meta(description="fingerprint of the rubric that was calibrated")]
    data: Annotated[str, Meta(description="digest of the labelled outputs")]
    date: str
    n: Annotated[int, Meta(ge=2, description="labelled outputs")]
    sensitivity: Annotated[
        Counted,
        Meta(description="share of the passes by people that it passes"),
    ]
    specificity: Annotated[
        Counted,
        Meta(description="share of the fails by people that it fails"),
    ]


class RubricFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rubric: dimensions, their weights, and what it takes to pass."""

    dimensions: Annotated[
        dict[str, RubricLine], Meta(description="what is measured, by name", min_length=1)
    ]
    name: Annotated[str | None, Meta(description="the file's own name where absent")] = None
    description: Annotated[str, Meta(description="what it is for")] = ""
    pass_threshold: Annotated[
        float, Meta(description="a case passes where its mean, a number from 0 to 1, reaches this")
    ] = 0.7
    min_coverage: Annotated[
        Share, Meta(description="below this share of the weight a case is skipped")
    ] = 0.25
    inapplicable: Annotated[
        Literal["leave", "zero"],
        Meta(description="whether a dimension that does not apply leaves the mean or counts as 0"),
    ] = "leave"
    learned: Annotated[
        dict[str, Any] | None,
        Meta(description="how the rubric was learned; for people, without effect on scores"),
    ] = None
    calibration: Annotated[
        RubricCalibration | None,
        Meta(description="written by fourscore calibrate; the pass rate is corrected by it"),
    ] = None
