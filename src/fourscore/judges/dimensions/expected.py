"""What a case expects, in the form that the five dimensions read."""

import msgspec

from fourscore.core import Case, CaseError
from fourscore.formats.conversion import explained
from fourscore.formats.fields import Expected
from fourscore.judges.dimensions.known import known


@known
def expected_of(case: Case) -> Expected:
    """`case.expected` as an object; text, numbers and lists are the reference answer.

    Without it the answer is `metadata.answer`, where trainers keep it.
    """
    value = case.expected
    if value is None:
        return Expected(answer=case.metadata.get("answer"))
    if not isinstance(value, dict):
        return Expected(answer=value)
    try:
        return msgspec.convert(value, Expected)
    except msgspec.ValidationError as error:
        message, field = explained(error, value, Expected)
        raise CaseError(case.id, f"expected.{field}" if field else "expected", message) from None
