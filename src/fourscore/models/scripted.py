"""A model that answers by a script: for tests, documentation, and trying a judge for free.

The script is a function of the request, a list of replies (the last one repeats), or a mapping of
regular expressions to replies, of which the first that is found in the messages counts. A reply is
text, a JSON object, a `Response`, or an exception, which is raised. Replies to a request with a
schema are parsed as strictly as those of any other model.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from fourscore.core import Usage, digest
from fourscore.models.messages import ModelError, Request, Response
from fourscore.models.verdict import NO_VERDICT, parse_verdict

ScriptedReply = str | Mapping[str, Any] | Response | Exception
Script = Callable[[Request], ScriptedReply] | Sequence[ScriptedReply] | Mapping[str, ScriptedReply]


class ScriptedModel:
    """Keeps its `requests` and counts its `calls`. `fail` may stop any call: it is given the number
    of the call, from 1 on, and returns an error or None."""

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        fail: Callable[[int], Exception | None] | None = None,
    ) -> None:
        if isinstance(script, str) or not (callable(script) or script):
            raise TypeError(
                "script: expected a function, a list of replies, or patterns with replies"
            )
        self.name, self._script, self._fail = name, script, fail
        self.requests: list[Request] = []

    @property
    def calls(self) -> int:
        return len(self.requests)

    @property
    def fingerprint(self) -> str:
        """The digest of the name: two scripts of one name are one model to a cache."""
        return digest(["scripted", self.name])

    async def ask(self, request: Request) -> Response:
        self.requests.append(request)
        failure = self._fail(len(self.requests)) if self._fail is not None else None
        reply = failure or self._choose_reply(request)
        if isinstance(reply, Exception):
            raise reply
        return self._make_response(request, reply)

    def _choose_reply(self, request: Request) -> ScriptedReply:
        script = self._script
        if callable(script):
            return script(request)
        if isinstance(script, Mapping):
            text = "\n".join(each.content for each in request.messages)
            for rule, reply in script.items():
                if re.search(rule, text):
                    return reply
            raise ModelError(
                "bad_request", f"no pattern of {self.name} is found in the request", usage=Usage()
            )
        return script[min(len(self.requests), len(script)) - 1]

    def _make_response(self, request: Request, reply: ScriptedReply) -> Response:
        if isinstance(reply, Response):
            return reply
        text = reply if isinstance(reply, str) else msgspec.json.encode(reply).decode()
        usage = Usage(
            calls=1,
            input_tokens=sum(len(each.content) for each in request.messages) // 4 + 1,
            output_tokens=len(text) // 4 + 1,
        )
        parsed = NO_VERDICT
        if request.schema is not None:
            parsed = parse_verdict(text, request.schema, usage=usage, model=self.name)
        return Response(
            text=text,
            value=parsed.value,
            extra_keys=parsed.extra_keys,
            usage=usage,
            model=self.name,
            finish="stop",
        )
