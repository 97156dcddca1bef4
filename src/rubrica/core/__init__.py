"""What is true: the values, the protocols and the one function every phase goes through.

Nothing here reads, writes, waits or starts anything.
"""

from rubrica.core.case import Case
from rubrica.core.errors import (
    CaseError,
    ConfigError,
    DataError,
    InputError,
    JudgeError,
    RubricaError,
    nearest,
)
from rubrica.core.frozen import digest, freeze, thaw
from rubrica.core.judge import FunctionJudge, Judge, Ranker, interpret, judge
from rubrica.core.rubric import Dimension, Rubric, fingerprint
from rubrica.core.score import Provenance, Score, Status
from rubrica.core.scoring import (
    INLINE,
    Call,
    ControlFlow,
    Executor,
    Inline,
    Result,
    attempt,
    fold,
    score,
)
from rubrica.core.signal import Canary, Evidence, Signal
from rubrica.core.trace import Fault, Message, Step, ToolCall, Trace, Usage

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
    "RubricaError",
    "Score",
    "Signal",
    "Status",
    "Step",
    "ToolCall",
    "Trace",
    "Usage",
    "attempt",
    "digest",
    "fingerprint",
    "fold",
    "freeze",
    "interpret",
    "judge",
    "nearest",
    "score",
    "thaw",
]
