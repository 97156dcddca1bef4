"""What a text shows, by rules and parsers: no model, the same answer every time.

Each file finds one thing in an output, in English, Chinese or Vietnamese. The words are in
`lexicon/`, the parsers of code are optional (`rubrica[code]`). Nothing here is evaluated, and no
text takes more than linear time: what cannot be read within its limits is not judged.
"""

from rubrica.judges.failures import has_obvious_errors
from rubrica.judges.fitness.detectors.answer import has_direct_answer
from rubrica.judges.fitness.detectors.blocks import has_code_block
from rubrica.judges.fitness.detectors.explanation import has_explanation
from rubrica.judges.fitness.detectors.form import Form, follows_format, form
from rubrica.judges.fitness.detectors.steps import has_next_steps
from rubrica.judges.fitness.detectors.syntax import Syntax, has_syntax_errors, syntax

__all__ = [
    "Form",
    "Syntax",
    "follows_format",
    "form",
    "has_code_block",
    "has_direct_answer",
    "has_explanation",
    "has_next_steps",
    "has_obvious_errors",
    "has_syntax_errors",
    "syntax",
]
