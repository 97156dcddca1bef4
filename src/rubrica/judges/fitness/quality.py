"""What an output has: an answer, an explanation, next steps, sound code, a sound form."""

from rubrica.judges.failures import has_obvious_errors
from rubrica.judges.fitness import detectors
from rubrica.judges.fitness.detectors import (
    has_direct_answer,
    has_explanation,
    has_next_steps,
    has_syntax_errors,
)

__all__ = [
    "follows_format",
    "has_direct_answer",
    "has_explanation",
    "has_next_steps",
    "has_obvious_errors",
    "has_syntax_errors",
]

#: Characters that are looked at.
READ = 100_000


def follows_format(output: str, request: str = "") -> bool:
    """The form that the request names is kept, every fence is closed, and nothing breaks off."""
    text = output[:READ].rstrip()
    if not text or not detectors.follows_format(text, request):
        return False
    marks = sum(line.lstrip().startswith("```") for line in text.splitlines())
    return marks % 2 == 0 and not text.endswith((",", "...", "…", "(", "[", "{"))
