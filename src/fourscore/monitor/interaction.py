"""One interaction as the application handed it over, before anybody has looked at it."""

import re
import time
from collections.abc import Iterable, Mapping
from secrets import token_hex
from typing import Any

import msgspec
from msgspec.structs import replace

from fourscore.agents.recorder_values import cut, plain, text_of
from fourscore.agents.step_recorder import Recording
from fourscore.core import Case, Fault, Message, Step, ToolCall, Trace, digest
from fourscore.core.frozen import replace_surrogates
from fourscore.formats.case_fields import case_from
from fourscore.formats.chat_messages import trace_of_messages

#: Tags of an interaction, and characters of its id and of each tag.
MOST_TAGS, LONGEST_TAG, LONGEST_ID = 16, 80, 200
#: What people say who did not like an answer.
DOWN = re.compile(r"(?i)\s*(?:thumbs?[ _-]?)?(?:down|-1|bad|negative|dislike|👎)\s*")


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """A sampled interaction. `rate` is the probability with which its like are drawn, `drawn`
    whether it was, and not only taken by a rule.
    """

    id: str
    at: float
    query: Any
    output: Any
    tags: tuple[str, ...] = ()
    trace: Any = None
    error: Any = None
    feedback: Any = None
    case: Any = None
    seconds: float | None = None
    rate: float = 1.0
    drawn: bool = True

    @property
    def size(self) -> int:
        """About how many characters it holds, while it waits."""
        return sum(map(_size, (self.query, self.output, self.trace, self.case))) + 500

    def read(self) -> tuple[Case, Trace]:
        """As what judges take; raises where the application handed over something else."""
        return self._case(), self._trace()

    def _case(self) -> Case:
        case = self.case
        if not isinstance(case, Case):
            query, _ = cut(plain(self.query))
            if not isinstance(case, Mapping):
                return Case(id=self.id, input=query, tags=self.tags)
            case = case_from({"id": self.id, "input": query, **case})
        return replace(case, tags=tuple(dict.fromkeys((*case.tags, *self.tags))))

    def _trace(self) -> Trace:
        trace = self.trace if isinstance(self.trace, Trace) else Trace(steps=_steps(self.trace))
        output, _ = cut(plain(trace.output if self.output is None else self.output))
        metadata = dict(trace.metadata)
        if self.feedback is not None:
            metadata["feedback"] = plain(self.feedback)
        return replace(
            trace,
            output=output,
            started=self.at - (self.seconds or 0) if trace.started is None else trace.started,
            seconds=self.seconds if trace.seconds is None else trace.seconds,
            metadata=metadata,
            fault=trace.fault if self.error is None else _fault(self.error),
        )


def make_observation(query: Any, output: Any, **rest: Any) -> Observation:
    """A snapshot: what the application changes afterwards does not change it."""
    rest["id"] = _id(rest.get("id"))
    rest["tags"] = clean_tags(rest.get("tags") or ())
    if isinstance(rest.get("error"), BaseException):  # its frames would keep everything alive
        rest["error"] = _fault(rest["error"])
    case, trace = rest.get("case"), rest.get("trace")
    rest["case"] = case if case is None or isinstance(case, Case) else plain(case)
    if isinstance(trace, Recording):
        rest["trace"] = Trace(steps=trace.close(), usage=trace.usage)
    elif trace is not None and not isinstance(trace, Trace):
        rest["trace"] = tuple(one if isinstance(one, Step) else plain(one) for one in trace)
    return Observation(query=_still(query), output=_still(output), **{"at": time.time(), **rest})


def _still(value: Any) -> Any:
    return value if type(value) is str or value is None else plain(value)


def _id(given: Any) -> str:
    words = "" if given is None else replace_surrogates(str(given))
    if not words:
        return token_hex(8)
    return words if len(words) <= LONGEST_ID else f"{words[:160]}…{digest(words)}"


def clean_tags(tags: "Iterable[str] | str") -> tuple[str, ...]:
    """A few short words; one that is no list is one tag."""
    several = (tags,) if isinstance(tags, str) else tags
    words = dict.fromkeys(text_of(tag)[:LONGEST_TAG] for tag in several)
    return tuple(words)[:MOST_TAGS]


def _size(value: Any) -> int:
    if value is None or isinstance(value, str):
        return len(value or "")
    try:
        return len(msgspec.json.encode(value))
    except Exception:
        return 10_000


def _steps(given: Any) -> tuple[Step, ...]:
    if given is None:
        return ()
    if all(isinstance(step, Message | ToolCall) for step in given):
        return tuple(given)
    return trace_of_messages(list(given)).steps


def _fault(error: Any) -> Fault:
    if isinstance(error, Fault):
        return error
    kind = "timeout" if isinstance(error, TimeoutError) or error == "timeout" else "error"
    words = f"{type(error).__name__}: " if isinstance(error, BaseException) else ""
    return Fault(kind, words + text_of(error))  # type: ignore[arg-type]


def is_thumbs_down(feedback: Any) -> bool:
    """False, a negative number, or one of the words for it."""
    if feedback is None or feedback is True:
        return False
    if isinstance(feedback, str):
        return DOWN.fullmatch(feedback[:40]) is not None
    try:
        return feedback is False or bool(feedback < 0)
    except Exception:
        return False
