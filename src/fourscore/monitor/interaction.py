"""`Observation`: one sampled interaction as the application passed it to `observe`, not judged."""

import re
import time
from collections.abc import Iterable, Mapping
from secrets import token_hex
from typing import Any

import msgspec
from msgspec.structs import replace

from fourscore.agents.step_recorder import Recording
from fourscore.agents.trace_values import to_json, to_text, truncate
from fourscore.core import Case, Fault, Message, Step, ToolCall, Trace, digest
from fourscore.core.frozen import replace_surrogates
from fourscore.formats.case_fields import parse_case
from fourscore.formats.chat_messages import read_messages

#: Tags of an interaction, characters of each tag, characters of its id.
MAX_TAGS, MAX_TAG_LENGTH, MAX_ID_LENGTH = 16, 80, 200
#: Feedback that means thumbs down.
THUMBS_DOWN = re.compile(r"(?i)\s*(?:thumbs?[ _-]?)?(?:down|-1|bad|negative|dislike|👎)\s*")


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """A sampled interaction.

    `rate` is the probability with which interactions with its tags are drawn; `drawn` is False if
    it was sampled only because of a rule. `problem` says why it cannot be judged, where it cannot.
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
    problem: str = ""

    @property
    def size(self) -> int:
        """The approximate memory that it takes, in characters."""
        return sum(map(_size, (self.query, self.output, self.trace, self.case))) + 500

    def read(self) -> tuple[Case, Trace]:
        """Return the case and trace for judges; raise if an argument cannot be converted."""
        return self._make_case(), self._make_trace()

    def _make_case(self) -> Case:
        case = self.case
        if not isinstance(case, Case):
            query, _ = truncate(to_json(self.query))
            if not isinstance(case, Mapping):
                return Case(id=self.id, input=query, tags=self.tags)
            case = parse_case({"id": self.id, "input": query, **case})
        return replace(case, tags=tuple(dict.fromkeys((*case.tags, *self.tags))))

    def _make_trace(self) -> Trace:
        trace = (
            self.trace if isinstance(self.trace, Trace) else Trace(steps=_read_steps(self.trace))
        )
        output, _ = truncate(to_json(trace.output if self.output is None else self.output))
        metadata = dict(trace.metadata)
        if self.feedback is not None:
            metadata["feedback"] = to_json(self.feedback)
        return replace(
            trace,
            output=output,
            started=self.at - (self.seconds or 0) if trace.started is None else trace.started,
            seconds=self.seconds if trace.seconds is None else trace.seconds,
            metadata=metadata,
            fault=trace.fault if self.error is None else _make_fault(self.error),
        )


def make_observation(query: Any, output: Any, **rest: Any) -> Observation:
    """Return a snapshot of an interaction: later changes by the application do not change it."""
    rest["id"] = _clean_id(rest.get("id"))
    rest["tags"] = clean_tags(rest.get("tags") or ())
    if isinstance(rest.get("error"), BaseException):  # its traceback would keep objects alive
        rest["error"] = _make_fault(rest["error"])
    case, trace = rest.get("case"), rest.get("trace")
    rest["case"] = case if case is None or isinstance(case, Case) else to_json(case)
    if isinstance(trace, Recording):
        rest["trace"] = Trace(steps=trace.close(), usage=trace.usage)
    elif trace is not None and not isinstance(trace, Trace):
        rest["trace"] = tuple(one if isinstance(one, Step) else to_json(one) for one in trace)
    return Observation(
        query=_snapshot(query), output=_snapshot(output), **{"at": time.time(), **rest}
    )


def _snapshot(value: Any) -> Any:
    return value if type(value) is str or value is None else to_json(value)


def _clean_id(given: Any) -> str:
    text = "" if given is None else replace_surrogates(str(given))
    if not text:
        return token_hex(8)
    return text if len(text) <= MAX_ID_LENGTH else f"{text[:160]}…{digest(text)}"


def clean_tags(tags: "Iterable[str] | str") -> tuple[str, ...]:
    """Return at most `MAX_TAGS` tags, each cut to `MAX_TAG_LENGTH`; a single text is one tag."""
    several = (tags,) if isinstance(tags, str) else tags
    cleaned = dict.fromkeys(to_text(tag)[:MAX_TAG_LENGTH] for tag in several)
    return tuple(cleaned)[:MAX_TAGS]


def _size(value: Any) -> int:
    if value is None or isinstance(value, str):
        return len(value or "")
    try:
        return len(msgspec.json.encode(value))
    except Exception:
        return 10_000


def _read_steps(given: Any) -> tuple[Step, ...]:
    if given is None:
        return ()
    if all(isinstance(step, Message | ToolCall) for step in given):
        return tuple(given)
    return read_messages(list(given)).steps


def _make_fault(error: Any) -> Fault:
    if isinstance(error, Fault):
        return error
    kind = "timeout" if isinstance(error, TimeoutError) or error == "timeout" else "error"
    prefix = f"{type(error).__name__}: " if isinstance(error, BaseException) else ""
    return Fault(kind, prefix + to_text(error))  # type: ignore[arg-type]


def is_thumbs_down(feedback: Any) -> bool:
    """Return whether feedback is False, a negative number, or a word like "down"."""
    if feedback is None or feedback is True:
        return False
    if isinstance(feedback, str):
        return THUMBS_DOWN.fullmatch(feedback[:40]) is not None
    try:
        return feedback is False or bool(feedback < 0)
    except Exception:
        return False
