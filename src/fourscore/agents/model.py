"""A model as the agent under test: `openai:MODEL`, `anthropic:MODEL`.

The input of a case is the user's message: text as it is, a list of `{role, content}` messages as
the conversation so far, anything else as JSON. The reply's text is the output. A system message of
the agent's own stands before it.

Its replies are never taken from the cache, nor kept in it: repeats are to differ where the model
does, and the time it took is to be its own. For the same reason no second call is made beside a
slow one. What passes (429, 5xx, a broken connection) is asked again within the case's deadline.
"""

from typing import Any

from fourscore.agents.reply import bounded, noted
from fourscore.core import Case, Message, Trace, Usage
from fourscore.core.trace import as_text
from fourscore.models.budgeted import MAX_TOKENS, estimate_max_usage
from fourscore.models.messages import ROLES, ChatMessage, Model, Request
from fourscore.models.model_pool import model_for
from fourscore.models.model_spec import KINDS, make_model

#: Around an agent under test; see above.
SETTINGS = {"cache": False, "hedge": False}
#: How endpoints say that a reply ran into its limit.
CUT = frozenset({"length", "max_tokens"})


def names_model(spec: str) -> bool:
    """Whether it names a model rather than a module."""
    return spec.partition(":")[0] in KINDS


class ModelAgent:
    """Asks the model of the current model pool, within the pool's budget."""

    version = ""

    def __init__(self, spec: str, system: str = "") -> None:
        self.name = spec
        self._system = system
        self.models = (make_model(spec, **SETTINGS).name,)  # a name that is none is refused here

    @property
    def pool_model(self) -> Model:
        return model_for(self.name, SETTINGS)

    def most(self, case: Case) -> Usage:
        """What one attempt takes at the most; a reply that has no limit counts with the usual."""
        turns = _led(self._system, _turns(case.input))
        return estimate_max_usage(Request(messages=turns, max_tokens=MAX_TOKENS))

    async def run(self, case_id: str, input: Any) -> Trace:  # noqa: A002, ARG002
        turns = _led(self._system, _turns(input))
        reply = await self.pool_model.ask(Request(messages=turns))
        trace = bounded(
            Trace(
                output=reply.text,
                steps=(Message(role="assistant", content=reply.text),),
                usage=reply.usage,
                metadata={"model": reply.model} if reply.model else {},
            )
        )
        notes = [f"the reply is cut at its limit ({reply.finish})"] if reply.finish in CUT else []
        return noted(trace, notes=notes)


def _turns(given: Any) -> tuple[ChatMessage, ...]:
    if isinstance(given, list) and given and all(_is_turn(item) for item in given):
        return tuple(ChatMessage(item["role"], item["content"]) for item in given)
    return (ChatMessage("user", as_text(given)),)


def _led(system: str, turns: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    """The turns after a system message; one that is there goes into it: many take no second."""
    if not system:
        return turns
    if turns[0].role == "system":
        system, turns = f"{system}\n\n{turns[0].content}", turns[1:]
    return (ChatMessage("system", system), *turns)


def _is_turn(item: Any) -> bool:
    if not isinstance(item, dict) or item.keys() != {"role", "content"}:
        return False
    return item["role"] in ROLES and isinstance(item["content"], str)
