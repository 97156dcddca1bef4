"""What judges that compare answers with one another share: by what, and with which reference."""

from typing import Literal

from fourscore.core import Case
from fourscore.judges.llm.model_judge import ModelJudge, reference_of

#: By what, where nobody says.
BETTER = {
    "en": "which answers the question better: right, to the point, complete",
    "zh": "哪一个更好地回答了问题：正确、切题、完整",
}


class Comparing(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`criterion` says by what to decide; `reference` shows the answer that the case expects."""

    criterion: str = ""
    reference: bool = True
    form: Literal["full"] = "full"

    @property
    def used_criterion(self) -> str:
        return self.criterion or BETTER[self.language]

    def read_shown_reference(self, case: Case) -> str:
        return reference_of(case, self.reference)
