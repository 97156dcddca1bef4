"""The built-in judges under AgentJet's names."""

from rubrica.judges.countdown import CountdownJudge
from rubrica.judges.math import MathJudge
from rubrica.judges.workflow import BuiltInJudge


class MathAnswerAsJudge(BuiltInJudge):
    """`(1.0, True)` where the last box of `final_answer` holds the task's answer."""

    kind = MathJudge


class CountdownAnswerAsJudge(BuiltInJudge):
    """Full reward for a right equation, a tenth for a well-formed wrong one."""

    kind = CountdownJudge
