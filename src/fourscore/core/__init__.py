"""The value types, the protocols, and the function `score`, which every phase uses. No I/O."""

from fourscore.core.case import Case
from fourscore.core.errors import (
    CaseError,
    ConfigError,
    DataError,
    FourscoreError,
    InputError,
    JudgeError,
    suggest_known,
)
from fourscore.core.frozen import digest, freeze, thaw
from fourscore.core.judge import FunctionJudge, Judge, Ranker, interpret_result, judge
from fourscore.core.rubric import Dimension, Rubric, fingerprint
from fourscore.core.score import Provenance, Score, Status
from fourscore.core.scoring import (
    INLINE,
    Call,
    ControlFlow,
    Executor,
    Inline,
    Result,
    call_judge,
    fold,
    score,
)
from fourscore.core.signal import Canary, Evidence, Signal
from fourscore.core.trace import Fault, Message, Step, ToolCall, Trace, Usage

__all__ = [
    "INLINE",
    "Call",
    "Canary",
    "Case",
    "CaseError",
    "ConfigError",
    "ControlFlow",
    "DataError",
    "Dimension",
    "Evidence",
    "Executor",
    "Fault",
    "FourscoreError",
    "FunctionJudge",
    "Inline",
    "InputError",
    "Judge",
    "JudgeError",
    "Message",
    "Provenance",
    "Ranker",
    "Result",
    "Rubric",
    "Score",
    "Signal",
    "Status",
    "Step",
    "ToolCall",
    "Trace",
    "Usage",
    "call_judge",
    "digest",
    "fingerprint",
    "fold",
    "freeze",
    "interpret_result",
    "judge",
    "score",
    "suggest_known",
    "thaw",
]
