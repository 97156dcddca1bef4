"""Not asking about an answer that is none."""

from fourscore.core import Case
from fourscore.judges.empty_answers import explain_empty_answer
from fourscore.judges.llm.defences import is_off


def explain_empty(case: Case, answer: str) -> str | None:
    """Why the answer says nothing, in words; None where a model is to be asked about it."""
    return None if is_off("openers") else explain_empty_answer(case, answer)
