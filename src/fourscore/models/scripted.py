"""A model that answers by a script: for tests, for documentation, for trying a judge without money.

The script is a function of the ask, a list that is read from the top (its last entry over and
over), or rules: a regular expression and an answer each, of which the first that is found in the
messages counts. An answer is text, a JSON object, a `Response`, or an exception, which is raised.
Replies to an ask with a schema are parsed as strictly as any other.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from fourscore.core import Usage, digest
from fourscore.models.messages import ModelError, Request, Response
from fourscore.models.verdict import verdict

Answer = str | Mapping[str, Any] | Response | Exception
Script = Callable[[Request], Answer] | Sequence[Answer] | Mapping[str, Answer]


class ScriptedModel:
    """Counts its `calls` and keeps the `asks`. `fail` may stop any call: it is given the number of
    the call, from 1 on, and returns an error or None."""

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        fail: Callable[[int], Exception | None] | None = None,
    ) -> None:
        if isinstance(script, str) or not (callable(script) or script):
            raise TypeError("script: expected a function, a list of answers or rules")
        self.name, self._script, self._fail = name, script, fail
        self.asks: list[Request] = []

    @property
    def calls(self) -> int:
        return len(self.asks)

    @property
    def fingerprint(self) -> str:
        """By name alone: two scripts of one name are one model to a cache."""
        return digest(["scripted", self.name])

    async def ask(self, request: Request) -> Response:
        self.asks.append(request)
        failure = self._fail(len(self.asks)) if self._fail is not None else None
        answer = failure or self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        return self._reply(request, answer)

    def _answer(self, request: Request) -> Answer:
        script = self._script
        if callable(script):
            return script(request)
        if isinstance(script, Mapping):
            text = "\n".join(turn.content for turn in request.messages)
            for rule, answer in script.items():
                if re.search(rule, text):
                    return answer
            raise ModelError("bad_request", f"no rule of {self.name} fits the ask", usage=Usage())
        return script[min(len(self.asks), len(script)) - 1]

    def _reply(self, request: Request, answer: Answer) -> Response:
        if isinstance(answer, Response):
            return answer
        text = answer if isinstance(answer, str) else msgspec.json.encode(answer).decode()
        usage = Usage(
            calls=1,
            input_tokens=sum(len(turn.content) for turn in request.messages) // 4 + 1,
            output_tokens=len(text) // 4 + 1,
        )
        value = None if request.schema is None else verdict(text, request.schema, usage=usage)
        return Response(text=text, value=value, usage=usage, model=self.name, finish="stop")
