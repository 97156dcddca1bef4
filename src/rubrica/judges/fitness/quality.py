"""What an output has: an answer, an explanation, next steps, sound code, a sound form."""

from rubrica.judges.failures import has_obvious_errors
from rubrica.judges.fitness.detectors.answer import (
    has_direct_answer,
    has_explanation,
    has_next_steps,
)
from rubrica.judges.fitness.detectors.format import follows_format
from rubrica.judges.fitness.detectors.syntax import has_syntax_errors

__all__ = [
    "follows_format",
    "has_direct_answer",
    "has_explanation",
    "has_next_steps",
    "has_obvious_errors",
    "has_syntax_errors",
]
