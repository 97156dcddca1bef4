"""`ModelJudge`: the options of every judge that asks a model, and how it asks for a verdict.

In the brief form the judge asks a plain question and the model replies with one word. The
probability of *yes* comes from log-probabilities where the endpoint offers them, and the judge
itself searches the text for evidence. In the full form the reply is a JSON object with the check
number, a quotation and a choice, in that order. Small models make mistakes in the full form
(docs/model-judges.md has the figures); labels show which form suits a model. A reply that cannot
be used is asked for again; three such replies are an error, never a score.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import msgspec
from msgspec.structs import force_setattr, replace

from fourscore.core import Case, ConfigError, Evidence, Usage, digest, freeze
from fourscore.core.frozen import EMPTY
from fourscore.core.numbers import check_whole
from fourscore.core.trace import as_text
from fourscore.judges.dimensions.case_fields import read_expected
from fourscore.judges.dimensions.signals import MAX_QUOTE
from fourscore.judges.empty_answers import explain_empty_answer
from fourscore.judges.llm.injection_defences import DEFENCES, Defence, FencedTexts, fence_texts
from fourscore.judges.llm.logprobs import read_choice_probabilities, read_word_probabilities
from fourscore.judges.llm.prompts import (
    REMINDERS,
    TITLES,
    WORD_REMINDERS,
    Language,
    read_prompt,
)
from fourscore.judges.llm.quotations import find_quotation, find_supporting_sentence
from fourscore.judges.llm.verdicts import (
    BRIEF_WORDS,
    YES_NO,
    Form,
    ModelVerdict,
    make_verdict_schema,
    read_word,
)
from fourscore.models.messages import NO_USAGE, ChatMessage, Model, ModelError, Request, Response
from fourscore.models.model_pool import model_for
from fourscore.models.verdict import quote_beginning

#: Maximum number of requests for one verdict: the first, and two more if a reply cannot be used.
TRIES = 3
#: Tokens for a one-word reply. A model that has to think first is asked again with `max_tokens`.
WORD_TOKENS = 5


#: Returns what is wrong with the content of a reply that fits the schema; None if it is right.
Check = Callable[[Any], str | None]


def accept_all(value: Any) -> None:
    """Accept every reply that fits the schema."""


#: Names of the texts that a question can be about; a question has at most one of them.
_SUBJECTS = ("claim", "aspect", "expected", "statement")


def find_subject(texts: Mapping[str, str]) -> str:
    """Return the claim, aspect or statement that a question is about; "" if there is none."""
    return next((texts[name] for name in _SUBJECTS if name in texts), "")


class ModelJudge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all judges that ask a model.

    `model`: a specification such as `openai:gpt-4o-mini`, or a model object.
    `settings`: the model's settings (`base_url`, `key_env`, ...).
    `prompt_folder`: a folder with custom prompts.
    `language`: the language of the prompts.
    `max_chars`: the most characters of each text that the model is shown.
    `max_tokens`: the most tokens of a reply.
    `logprobs`: how many alternatives to a verdict are asked for; 0 for none.
    `form`: `brief`, one plain question and one word; or `full`, with check number and quotation.
    `bind`: `reply` compares the check number in the reply; `schema` also puts it into the schema.
    Small models on your own server need `schema`; OpenAI would compile a schema for each call.
    `without`: defences to switch off, to measure the effect of each.
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

    def __post_init__(self) -> None:
        force_setattr(self, "settings", freeze(self.settings))
        if isinstance(self.model, str):
            model_for(self.model, self.settings)  # a typo fails before the first case
        elif not hasattr(self.model, "ask"):
            raise ConfigError("expected a model such as openai:gpt-4o-mini", field="model")
        check_whole("max_chars", self.max_chars, low=100)
        check_whole("max_tokens", self.max_tokens, low=16)
        check_whole("logprobs", self.logprobs, low=0)
        self.prompts  # noqa: B018 - a mistake in a prompt file is reported now
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
        """The prompts that this judge asks with, and their versions."""
        return {}

    @property
    def fingerprint(self) -> str:
        """Digest of class, options, model and the versions of the prompts (not their folder)."""
        options = {
            name: getattr(self, name)
            for name in self.__struct_fields__
            if name not in ("model", "prompt_folder")
        }
        model = self.model if isinstance(self.model, str) else self.model.fingerprint
        return digest([type(self).__name__, model, options, dict(self.prompts)])

    def read_versions(self, *names: str) -> dict[str, str]:
        """Return the versions of these prompts in this judge's form and language."""
        return {
            f"{name}/{self.language}": read_prompt(name, self.language, self.prompt_folder).version
            for name in map(self.choose_prompt, names)
        }

    def choose_prompt(self, name: str) -> str:
        """Return the name of the prompt in this judge's form: `claim` or `claim_brief`."""
        return f"{name}_brief" if self.form == "brief" and name in BRIEF_WORDS else name

    def explain_empty(self, case: Case, answer: str) -> str | None:
        """Return why the answer has no content; None if the model has to be asked about it."""
        return None if "openers" in self.without else explain_empty_answer(case, answer)

    def find_quotation(self, words: str, text: str, field: str = "output") -> Evidence | None:
        """Return where the quoted words are in the text; unchecked without defence `evidence`."""
        found = find_quotation(words, text, field)
        if found is None and words.strip() and "evidence" in self.without:
            return Evidence(text=words[:MAX_QUOTE], field=field)
        return found

    def fence_case(
        self,
        case: Case,
        answer: str,
        *,
        reference: str = "",
        titles: Mapping[str, str] = EMPTY,
        **others: str,
    ) -> FencedTexts:
        """Return the question, answer, reference and other texts in fences; empty ones stay ""."""
        own = {"question": as_text(case.input), "answer": answer, "reference": reference}
        fenced = self.fence({**own, **others}, {**TITLES[self.language], **titles})
        return replace(fenced, subject=find_subject(others))

    def fence(self, texts: Mapping[str, str], titles: Mapping[str, str]) -> FencedTexts:
        """Return the texts in fences; in the brief form each is one line with a title."""
        lines = self.form == "brief"
        return fence_texts(texts, self.max_chars, titles, self.without, lines=lines)

    async def decide(
        self,
        name: str,
        fenced: FencedTexts,
        choices: Sequence[str] = YES_NO,
        *,
        text: str = "",
        field: str = "output",
        quoting: bool = True,
        **trusted: str,
    ) -> ModelVerdict:
        """Ask the prompt `name` for one of the choices; evidence is searched in `text`.

        In the brief form, and without `quoting`, the model is not asked for a quotation. `trusted`
        are texts by the rubric's author, which go into the prompt unfenced.
        """
        if self.form == "brief" and name in BRIEF_WORDS:
            choice, probabilities, usage = await self._ask_word(name, fenced, trusted)
            worst = next(iter(BRIEF_WORDS[name].values()))
            has_evidence = bool(text) and quoting and choice != worst
            return ModelVerdict(
                choice=choice,
                evidence=find_supporting_sentence(fenced.subject, text, field)
                if has_evidence
                else None,
                probabilities=probabilities,
                usage=usage,
                asked_to_quote=False,
            )
        number = fenced.number if self.bind == "schema" else None
        schema = make_verdict_schema(tuple(choices), number, quoting=quoting)
        reply = await self.ask(name, fenced, schema, check=accept_all, **trusted)
        quotation = reply.value.get("evidence", "")
        return ModelVerdict(
            choice=reply.value["verdict"],
            quotation=quotation,
            evidence=self.find_quotation(quotation, text, field) if text and quoting else None,
            probabilities=read_choice_probabilities(reply, "verdict", choices),
            usage=reply.usage,
            asked_to_quote=quoting,
        )

    async def _ask_word(
        self, name: str, fenced: FencedTexts, trusted: Mapping[str, str]
    ) -> tuple[str, Mapping[str, float] | None, Usage]:
        """Return the choice that the model's one word means, its probabilities, and the usage."""
        words = BRIEF_WORDS[name]
        texts = {**fenced.texts, "number": fenced.number, **trusted}
        prompt = read_prompt(self.choose_prompt(name), self.language, self.prompt_folder)
        system, user = prompt.fill(texts)
        reminder = WORD_REMINDERS[self.language].format(words=", ".join(words))
        spent, reply_text = NO_USAGE, ""
        for attempt in range(TRIES):
            question = ChatMessage("user", f"{user}\n\n{reminder}" if attempt else user)
            ask = Request(
                messages=(ChatMessage("system", system), question) if system else (question,),
                max_tokens=self.max_tokens if attempt else min(WORD_TOKENS, self.max_tokens),
                logprobs=self.logprobs,
                salt=f"again {attempt}" if attempt else "",
                is_usable=partial(_has_word, words=words, may_be_cut=not attempt),
            )
            try:
                reply = await self._send(ask, spent)
            except ModelError as error:
                if attempt or not _needs_more_tokens(error):
                    raise
                spent = error.usage or spent
                continue
            spent, reply_text = spent + reply.usage, reply.text
            if (verdict := _read_word_reply(reply, words)) is not None:
                return (*verdict, spent)
        raise self._make_error(f"expected one of {', '.join(words)}", reply_text, spent)

    async def ask(
        self,
        name: str,
        fenced: FencedTexts,
        schema: dict[str, Any],
        *,
        check: Check = accept_all,
        **trusted: str,
    ) -> Response:
        """Return a reply that fits the schema, has the right check number and passes `check`."""
        texts = {**fenced.texts, "number": fenced.number, **trusted}
        system, user = read_prompt(name, self.language, self.prompt_folder).fill(texts)

        def find_mistake(reply: Response) -> str | None:
            if reply.value["number"] != fenced.number and "number" not in self.without:
                return f"wrong check number (expected {fenced.number})"
            return check(reply.value)

        spent, wrong, reply_text = NO_USAGE, "", ""
        for attempt in range(TRIES):
            again = f"\n\n{REMINDERS[self.language].format(number=fenced.number)}" if wrong else ""
            ask = Request(
                messages=(ChatMessage("system", system), ChatMessage("user", user + again)),
                schema=schema,
                max_tokens=self.max_tokens,
                logprobs=self.logprobs,
                salt=f"again {attempt}" if attempt else "",
                is_usable=lambda reply: find_mistake(reply) is None,
            )
            reply = await self._send(ask, spent)
            spent, reply_text = spent + reply.usage, reply.text
            wrong = find_mistake(reply) or ""
            if not wrong:
                return reply if attempt == 0 else replace(reply, usage=spent)
        raise self._make_error(wrong, reply_text, spent)

    def _make_error(self, wrong: str, reply_text: str, spent: Usage) -> ModelError:
        """Return the error for a model that gave no usable reply: why not, and the last one."""
        last = f"began: {quote_beginning(reply_text)}" if reply_text.strip() else "was empty"
        message = f"{self.models[0]}: no verdict in {TRIES} replies: {wrong}; the last {last}"
        return ModelError("malformed", message, usage=spent)

    async def _send(self, ask: Request, spent: Usage) -> Response:
        """Return the model's reply; the usage of an error includes the requests before it."""
        try:
            return await self.pool_model.ask(ask)
        except ModelError as error:
            if error.usage is not None:
                error.usage += spent
            raise

    def ceiling(self, name: str, case: Case, asks: int, other_bytes: int = 400) -> Usage:
        """Return the maximum usage of `asks` verdicts; `other_bytes` is for texts of the judge."""
        prompt = read_prompt(self.choose_prompt(name), self.language, self.prompt_folder)
        size = len((prompt.system + prompt.user).encode())
        size += len(as_text(case.input).encode()) + 3 * self.max_chars + other_bytes
        tokens = size // 2 + 64
        return Usage(calls=asks, input_tokens=asks * tokens, output_tokens=asks * self.max_tokens)


def _read_word_reply(
    reply: Response, words: Mapping[str, str]
) -> tuple[str, Mapping[str, float] | None] | None:
    """Return the choice that a one-word reply means, and the probabilities; None without a word."""
    shares = read_word_probabilities(reply, words)
    if shares is not None:  # even if other words follow in the reply
        by_choice = {words[word]: share for word, share in shares.items()}
        return max(by_choice, key=by_choice.__getitem__), by_choice
    word = read_word(reply.text, words)
    return None if word is None else (words[word], None)


def _has_word(reply: Response, *, words: Mapping[str, str], may_be_cut: bool) -> bool:
    """Whether a cache may keep the reply: it has a word, or was cut at `WORD_TOKENS`.

    A model that thinks first is always cut there, and is then asked again with more tokens.
    """
    if may_be_cut and reply.finish in ("length", "max_tokens"):
        return True
    return _read_word_reply(reply, words) is not None


def _needs_more_tokens(error: ModelError) -> bool:
    """Whether the endpoint refused a request because `max_tokens` is too low for its model."""
    return error.kind == "bad_request" and "token" in error.message.lower()


def read_reference(case: Case, wanted: bool = True) -> str:
    """Return the answer that the case expects, as text; "" if it has none or it is not wanted."""
    expected: Any = read_expected(case).answer if wanted else None
    return "" if expected is None else as_text(expected)
