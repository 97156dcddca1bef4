"""A model as the agent under test: `openai:MODEL`, `anthropic:MODEL`.

The input of a case is the user's message: text as it is, a list of `{role, content}` messages as
the conversation so far, anything else as JSON. The reply's text is the output. The agent's system
message, if it has one, comes first.

Replies are neither taken from the cache nor stored in it: repeats should differ where the model
does, and the measured time should be its own. For the same reason no second call is made beside a
slow one. Temporary errors (429, 5xx, a broken connection) are retried within the case's deadline. A
model that cannot be reached, or whose connection breaks in all calls, has not failed: the attempt
is not measured.
"""

from typing import Any

from fourscore.agents.reply import add_notes, limit_size
from fourscore.core import Case, Message, Trace, Usage
from fourscore.core.trace import as_text
from fourscore.models.budget import MAX_TOKENS, estimate_max_usage
from fourscore.models.messages import ROLES, ChatMessage, Model, Request
from fourscore.models.model_pool import model_for
from fourscore.models.model_spec import KINDS, make_model

#: Of the model of an agent under test; see above.
SETTINGS = {"cache": False, "hedge": False}
#: Finish reasons of a reply that reached its token limit.
TRUNCATED = frozenset({"length", "max_tokens"})


def is_model_spec(spec: str) -> bool:
    """Whether `KIND:NAME` is a model rather than a Python module."""
    return spec.partition(":")[0] in KINDS


class ModelAgent:
    """Asks the model of the current model pool, within the pool's budget."""

    version = ""

    def __init__(self, spec: str, system: str = "") -> None:
        self.name = spec
        self._system = system
        self.models = (make_model(spec, **SETTINGS).name,)  # refuses an unknown model name

    @property
    def pool_model(self) -> Model:
        return model_for(self.name, SETTINGS)

    def most(self, case: Case) -> Usage:
        """Return the most that one attempt can use, with the usual token limit for its reply."""
        messages = _prepend_system(self._system, _make_messages(case.input))
        return estimate_max_usage(Request(messages=messages, max_tokens=MAX_TOKENS))

    async def run(self, case_id: str, input: Any) -> Trace:  # noqa: A002, ARG002
        messages = _prepend_system(self._system, _make_messages(input))
        reply = await self.pool_model.ask(Request(messages=messages))
        trace = limit_size(
            Trace(
                output=reply.text,
                steps=(Message(role="assistant", content=reply.text),),
                usage=reply.usage,
                metadata={"model": reply.model} if reply.model else {},
            )
        )
        notes = (
            [f"the reply is cut at its limit ({reply.finish})"] if reply.finish in TRUNCATED else []
        )
        return add_notes(trace, notes=notes)


def _make_messages(given: object) -> tuple[ChatMessage, ...]:
    if isinstance(given, list) and given and all(_is_message(item) for item in given):
        return tuple(ChatMessage(item["role"], item["content"]) for item in given)
    return (ChatMessage("user", as_text(given)),)


def _prepend_system(system: str, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    """Return the messages after the system message, merged with one that is there already."""
    if not system:
        return messages
    if messages[0].role == "system":
        system, messages = f"{system}\n\n{messages[0].content}", messages[1:]
    return (ChatMessage("system", system), *messages)


def _is_message(item: object) -> bool:
    if not isinstance(item, dict) or item.keys() != {"role", "content"}:
        return False
    return item["role"] in ROLES and isinstance(item["content"], str)
