"""Judges that misbehave, for servers under test: the answer says what they do."""

import asyncio
import ctypes
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from fourscore import Case, Trace, judge
from fourscore.task_judge.base_judge import BaseJudge


def begun(folder: Path) -> None:
    """Create a file in the folder, to show that a call has begun."""
    os.close(tempfile.mkstemp(prefix="begun", dir=folder)[0])


@judge
def hostile(case: Case, trace: Trace) -> Any:
    word, _, rest = trace.answer.partition(" ")
    match word:
        case "hang":
            time.sleep(3600)
        case "hold":
            ctypes.PyDLL(None).sleep(3600)  # with the interpreter's lock
        case "sleep":
            time.sleep(float(rest))
        case "abort":
            os.abort()
        case "exit":
            os._exit(3)
        case "segfault":
            ctypes.string_at(0)
        case "quit":
            sys.exit(4)
        case "raise":
            raise ValueError(f"the reference is {case.metadata['answer']}")
        case "nothing":
            return None
        case "pid":
            Path(rest).write_text(str(os.getpid()))
        case "until":
            begun(Path(rest))
            while not Path(rest, "go").exists():
                time.sleep(0.01)
    return True


@judge
async def waiting(case: Case, trace: Trace) -> bool:
    word, _, rest = trace.answer.partition(" ")
    match word:
        case "sleep":
            await asyncio.sleep(float(rest))
        case "hang":
            await asyncio.sleep(3600)
        case "until":
            begun(Path(rest))
            while not Path(rest, "go").exists():  # noqa: ASYNC110, ASYNC240
                await asyncio.sleep(0.01)
        case "block":
            begun(Path.cwd())
            time.sleep(float(rest))  # noqa: ASYNC251 - the mistake that it stands for
    return True


class Costly(BaseJudge):
    """Takes 1.5 s to construct, as a judge that loads a model does."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        time.sleep(1.5)

    def compute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
        if workflow_output.metadata["final_answer"] == "hang":
            time.sleep(3600)
        return 0.5, False
