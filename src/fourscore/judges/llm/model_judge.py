"""Asking a model for one verdict: the options that all such judges share, and the question itself.

In the brief form a verdict is one word: a plain question, whose probability of *yes* is read from
the log-probabilities where the endpoint offers them, and whose evidence is looked up here. In the
full form it is an object with the fence's number, a quotation, and one of a few words, in that
order. Small models lose their way in the full form (docs/model-judges.md has the figures); which
form suits a model is for labels to say. A reply that does not fit is asked for once or twice more,
and then is an error, never a score.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import force_setattr

from fourscore.core import Case, ConfigError, Evidence, Usage, digest, freeze
from fourscore.core.frozen import EMPTY
from fourscore.core.numbers import check_whole
from fourscore.core.trace import as_text
from fourscore.judges.dimensions.case_fields import read_expected
from fourscore.judges.llm.defences import DEFENCES, Defence, switched
from fourscore.judges.llm.injection_defences import Material, fence
from fourscore.judges.llm.logprobs import read_choice_probabilities, read_word_probabilities
from fourscore.judges.llm.prompts import Language, read_prompt
from fourscore.judges.llm.quotations import find_quotation, find_supporting_sentence
from fourscore.judges.llm.titles import REMINDERS, TITLES, WORD_REMINDERS
from fourscore.judges.llm.verdicts import WORDS, YES_NO, Form, make_verdict_schema, read_word
from fourscore.models.messages import FREE, ChatMessage, Model, ModelError, Request, Response
from fourscore.models.model_pool import model_for

#: Asks for one verdict, where the first reply cannot be used.
TRIES = 3
#: Tokens for one word. A model that has to think first is asked again, with all it may take.
FEW = 5


#: What is wrong with a reply, if anything, beyond its form.
Check = Callable[[Any], str | None]


def fine(value: Any) -> None:
    """Nothing more to check."""


#: Texts that name what a verdict is about, one of which a question has.
_THINGS = ("claim", "aspect", "expected", "statement")


def find_subject(texts: Mapping[str, str]) -> str:
    """The claim, aspect or statement in question; nothing where the texts hold none."""
    return next((texts[name] for name in _THINGS if name in texts), "")


class Verdict(NamedTuple):
    """What a model decided, the words it quoted, and where they stand.

    `quoted` is whether the model was asked for a quotation; else the evidence was looked up.
    """

    choice: str
    said: str
    evidence: Evidence | None
    shares: Mapping[str, float] | None
    usage: Usage
    value: Any = None
    quoted: bool = True

    @property
    def share(self) -> float:
        """How likely the choice was to the model itself; 1 where nobody knows."""
        return 1.0 if self.shares is None else self.shares[self.choice]

    @property
    def is_quotation_missing(self) -> bool:
        """Whether the model was to quote words that decide, and they are not in the text."""
        return self.quoted and self.evidence is None

    def get_probability(self, choice: str) -> float:
        """The probability of a choice by the model; 1 or 0 where only its word is known."""
        if self.shares is None:
            return float(self.choice == choice)
        return self.shares.get(choice, 0.0)


class ModelJudge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whom to ask and how. `model` is a specification such as `openai:gpt-4o-mini`, or a model.

    `settings` are the model's (`base_url`, `key_env`, ...), `prompt_folder` has words of one's own.
    `form`: `brief`, one plain question and one word; or `full`, with number and quotation.
    `bind`: whether the number is checked in the reply, or put into the schema, which small
    models on servers of one's own need and which makes OpenAI compile a schema for each call.
    `without`: defences to leave out, for measuring what each is worth.
    """

    model: Any
    settings: dict[str, Any] = EMPTY
    language: Language = "en"
    prompt_folder: str | None = None
    max_chars: int = 24_000
    max_tokens: int = 2048
    logprobs: int = 5
    form: Form = "brief"
    bind: Literal["reply", "schema"] = "reply"
    without: tuple[Defence, ...] = ()

    def __init_subclass__(cls, **settings: Any) -> None:
        """Whatever a judge looks at while it judges knows which defences are off."""
        super().__init_subclass__(**settings)
        for name in {"judge", "rank"} & cls.__dict__.keys():
            setattr(cls, name, switched(cls.__dict__[name]))

    def __post_init__(self) -> None:
        force_setattr(self, "settings", freeze(self.settings))
        if isinstance(self.model, str):
            model_for(self.model, self.settings)  # a typo fails before the first case
        elif not hasattr(self.model, "ask"):
            raise ConfigError("expected a model such as openai:gpt-4o-mini", field="model")
        check_whole("max_chars", self.max_chars, low=100)
        check_whole("max_tokens", self.max_tokens, low=16)
        check_whole("logprobs", self.logprobs, low=0)
        self.prompts  # noqa: B018 - read, so that a mistake in one shows now
        if not set(self.without) <= set(DEFENCES):
            raise ConfigError(f"expected some of {', '.join(DEFENCES)}", field="without")

    @property
    def runs(self) -> Literal["asks", "loop"]:
        return "asks" if isinstance(self.model, str) else "loop"

    @property
    def models(self) -> tuple[str, ...]:
        return (self.pool_model.name,)

    @property
    def pool_model(self) -> Model:
        return model_for(self.model, self.settings)

    @property
    def prompts(self) -> Mapping[str, str]:
        """The prompts it asks with, and their versions."""
        return {}

    @property
    def fingerprint(self) -> str:
        """Kind, options, model and the versions of the prompts, wherever they lie."""
        options = {
            name: getattr(self, name)
            for name in self.__struct_fields__
            if name not in ("model", "prompt_folder")
        }
        whom = self.model if isinstance(self.model, str) else self.model.fingerprint
        return digest([type(self).__name__, whom, options, dict(self.prompts)])

    def versions(self, *names: str) -> dict[str, str]:
        """`prompts` for a judge that asks with these, in its form."""
        used = map(self.choose_prompt, names)
        return {
            f"{name}/{self.language}": read_prompt(name, self.language, self.prompt_folder).version
            for name in used
        }

    def choose_prompt(self, name: str) -> str:
        """The prompt that a verdict of that name is asked for with, in this judge's form."""
        return f"{name}_brief" if self.form == "brief" and name in WORDS else name

    def material(
        self,
        case: Case,
        answer: str,
        *,
        reference: str = "",
        titles: Mapping[str, str] = EMPTY,
        **others: str,
    ) -> Material:
        """Question, answer and whatever else others wrote, in fences; nothing has no fence."""
        own = {"question": as_text(case.input), "answer": answer, "reference": reference}
        known = {**TITLES[self.language], **titles}
        fenced = self.fenced({**own, **others}, known)
        return fenced._replace(about=find_subject(others))

    def fenced(self, texts: Mapping[str, str], titles: Mapping[str, str]) -> Material:
        """The texts in fences; in the brief form each is one line behind its title."""
        lines = self.form == "brief"
        return fence(texts, self.max_chars, titles, self.without, lines=lines)

    async def decide(
        self,
        name: str,
        material: Material,
        choices: Sequence[str] = YES_NO,
        *,
        text: str = "",
        field: str = "output",
        quoting: bool = True,
        **own: str,
    ) -> Verdict:
        """One of the choices, with evidence; `text` is where quoted words are looked for.

        In the brief form, and without `quoting`, the model is asked for none. `own` are texts of
        whoever wrote the rubric, which go into the prompt as they are.
        """
        if self.form == "brief" and name in WORDS:
            choice, shares, usage = await self._ask_word(name, material, own)
            is_looked_up = bool(text) and quoting and choice != next(iter(WORDS[name].values()))
            evidence = (
                find_supporting_sentence(material.about, text, field) if is_looked_up else None
            )
            return Verdict(choice, "", evidence, shares, usage, quoted=False)
        number = material.number if self.bind == "schema" else None
        schema = make_verdict_schema(tuple(choices), number, quoting=quoting)
        reply = await self.ask(name, material, schema, check=fine, **own)
        choice, said = reply.value["verdict"], reply.value.get("evidence", "")
        shares = read_choice_probabilities(reply, "verdict", choices)
        evidence = find_quotation(said, text, field) if text and quoting else None
        return Verdict(choice, said, evidence, shares, reply.usage, reply.value, quoting)

    async def _ask_word(
        self, name: str, material: Material, own: Mapping[str, str]
    ) -> tuple[str, Mapping[str, float] | None, Usage]:
        """The choice that the model's one word stands for, its probabilities, and what it cost."""
        words = WORDS[name]
        texts = {**material.texts, "number": material.number, **own}
        prompt = read_prompt(self.choose_prompt(name), self.language, self.prompt_folder)
        system, user = prompt.filled(texts)
        reminder = WORD_REMINDERS[self.language].format(words=", ".join(words))
        spent, reply_text = FREE, ""
        for attempt in range(TRIES):
            asked = ChatMessage("user", f"{user}\n\n{reminder}" if attempt else user)
            ask = Request(
                messages=(ChatMessage("system", system), asked) if system else (asked,),
                max_tokens=self.max_tokens if attempt else min(FEW, self.max_tokens),
                logprobs=self.logprobs,
                salt=f"again {attempt}" if attempt else "",
            )
            try:
                reply = await self._asked(ask, spent)
            except ModelError as error:
                if attempt or not _needs_room(error):
                    raise
                spent = error.usage or spent
                continue
            spent, reply_text = spent + reply.usage, reply.text
            shares = read_word_probabilities(reply, words)
            if shares is not None:  # even where it goes on to say something else
                named = {words[word]: share for word, share in shares.items()}
                return max(named, key=named.__getitem__), named, spent
            if (word := read_word(reply.text, words)) is not None:
                return words[word], None, spent
        message = (
            f"{self.models[0]}: no verdict in {TRIES} replies: expected one of "
            f"{', '.join(words)}; the last began: {reply_text[:80]!r}"
        )
        raise ModelError("malformed", message, usage=spent)

    async def ask(
        self,
        name: str,
        material: Material,
        schema: dict[str, Any],
        *,
        check: Check = fine,
        **own: str,
    ) -> Response:
        """A reply that fits the schema, carries the fence's number and passes the check, which
        says what is wrong."""
        texts = {**material.texts, "number": material.number, **own}
        words = read_prompt(name, self.language, self.prompt_folder)
        system, user = words.filled(texts)
        spent, wrong = FREE, ""
        for attempt in range(TRIES):
            again = (
                f"\n\n{REMINDERS[self.language].format(number=material.number)}" if wrong else ""
            )
            ask = Request(
                messages=(ChatMessage("system", system), ChatMessage("user", user + again)),
                schema=schema,
                max_tokens=self.max_tokens,
                logprobs=self.logprobs,
                salt=f"again {attempt}" if attempt else "",
            )
            reply = await self._asked(ask, spent)
            spent += reply.usage
            if reply.value["number"] != material.number and "number" not in self.without:
                wrong = "it does not carry the number of the material"
            elif (why := check(reply.value)) is not None:
                wrong = why
            else:
                return reply if attempt == 0 else msgspec.structs.replace(reply, usage=spent)
        message = f"{self.models[0]}: no verdict in {TRIES} replies: {wrong}"
        raise ModelError("malformed", message, usage=spent)

    async def _asked(self, ask: Request, spent: Usage) -> Response:
        """The model's reply; a failure costs what the asks before it did, too."""
        try:
            return await self.pool_model.ask(ask)
        except ModelError as error:
            if error.usage is not None:
                error.usage += spent
            raise

    def ceiling(self, name: str, case: Case, asks: int, own: int = 400) -> Usage:
        """What so many verdicts take at the most, with an answer as long as is shown."""
        words = read_prompt(self.choose_prompt(name), self.language, self.prompt_folder)
        size = len((words.system + words.user).encode())
        size += len(as_text(case.input).encode()) + 3 * self.max_chars + own
        tokens = size // 2 + 64
        return Usage(calls=asks, input_tokens=asks * tokens, output_tokens=asks * self.max_tokens)


def _needs_room(error: ModelError) -> bool:
    """Whether an endpoint refused because its model cannot finish thinking in so few tokens."""
    return error.kind == "bad_request" and "token" in error.message.lower()


def reference_of(case: Case, wanted: bool = True) -> str:
    """The answer that the case expects, as text; nothing where it has none or it is not wanted."""
    expected: Any = read_expected(case).answer if wanted else None
    return "" if expected is None else as_text(expected)


async def together(asks: Sequence[Any]) -> list[Any]:
    """All at once; the first failure is raised when all have ended, with what all of them cost."""
    if len(asks) == 1:  # needs no task of its own
        return [await asks[0]]
    done = await asyncio.gather(*asks, return_exceptions=True)
    failed = [one for one in done if isinstance(one, BaseException)]
    if not failed:
        return list(done)
    first = failed[0]
    if isinstance(first, ModelError):
        first.usage = sum((get_usage(one) for one in done), FREE)
    raise first


def get_usage(done: Any) -> Usage:
    """What a verdict or a failure cost, as far as anyone knows."""
    return getattr(done, "usage", None) or FREE
