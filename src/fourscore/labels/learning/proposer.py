"""Ask the model for criteria, better criteria and themes; these prompts show the labels.

The model has read untrusted answers: so a criterion is one short line, and only the labels decide
whether it is used.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from fourscore.core import Usage
from fourscore.core.trace import as_text
from fourscore.formats.labelled_samples import Sample
from fourscore.judges.chat_tokens import break_chat_tokens
from fourscore.judges.llm.injection_defences import FencedTexts, fence_texts
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.prompts import TITLES
from fourscore.judges.llm.verdicts import make_reply_schema, make_text_schema

#: Most characters of a criterion, and of the name of a theme.
MAX_CRITERION, MAX_NAME = 300, 40
_WORDS = {
    "en": {
        "example": "Example {}",
        "score": "Grade of answer {}: {:g}, on a scale from {:g} to {:g}",
        "rank": "Rank of answer {}: {:g} of {} (1 is the best)",
        "none": "none",
        "yes": "The criterion was found to hold for answer {}.",
        "no": "The criterion was found not to hold for answer {}.",
    },
    "zh": {
        "example": "例 {}",
        "score": "回答 {} 的评分：{:g}（从 {:g} 到 {:g}）",
        "rank": "回答 {} 的名次：{:g}，共 {} 个（1 为最好）",
        "none": "无",
        "yes": "核对结果：这条标准对回答 {} 成立。",
        "no": "核对结果：这条标准对回答 {} 不成立。",
    },
}


class GradedSample(NamedTuple):
    """A sample to be shown with its labels; `verdicts` are those of a criterion, by answer."""

    sample: Sample
    bounds: tuple[float, float] | None
    verdicts: tuple[int, ...] = ()


class Proposer(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Asks for criteria; it shows at most `max_chars` characters of each text."""

    max_chars: int = 3000

    async def propose(
        self, shown: Sequence[GradedSample], known: Sequence[str], most: int
    ) -> tuple[list[str], Usage]:
        """Return new criteria from graded samples, and the usage."""
        fenced = self.fence_samples(shown)
        number = fenced.number if self.bind == "schema" else None
        bounds = {} if number is None else {"maxItems": most}
        items = {"type": "array", "items": make_text_schema(number), **bounds}
        reply = await self.ask(
            "propose",
            fenced,
            make_reply_schema({"evidence": make_text_schema(number), "criteria": items}, number),
            known="; ".join(known) or _WORDS[self.language]["none"],
            most=str(most),
        )
        texts = (clean_line(text) for text in reply.value["criteria"])
        return list(dict.fromkeys(text for text in texts if text))[:most], reply.usage

    async def revise(self, criterion: str, shown: Sequence[GradedSample]) -> tuple[str, Usage]:
        """Return a better criterion, from answers on which this one disagrees with the labels."""
        fenced = self.fence_samples(shown)
        number = fenced.number if self.bind == "schema" else None
        schema = make_reply_schema(
            {"evidence": make_text_schema(number), "criterion": make_text_schema(number)}, number
        )
        reply = await self.ask("revise", fenced, schema, criterion=criterion)
        return clean_line(reply.value["criterion"]), reply.usage

    async def propose_themes(
        self, criteria: Sequence[str], most: int
    ) -> tuple[list[tuple[str, list[int]]], Usage]:
        """Return themes for the criteria: a name and the positions of its criteria each."""
        text = "\n".join(f"{place}. {one}" for place, one in enumerate(criteria, 1))
        fenced = fence_texts(
            {"text": text}, self.max_chars * 10, TITLES[self.language], self.without
        )
        number = fenced.number if self.bind == "schema" else None
        member = {"type": "integer", "minimum": 1, "maximum": len(criteria)}
        theme: dict[str, Any] = {
            "type": "object",
            "properties": {
                "name": make_text_schema(number),
                "members": {"type": "array", "items": member},
            },
            "required": ["name", "members"],
            "additionalProperties": False,
        }
        themes = {"type": "array", "items": theme, "minItems": 1, "maxItems": most}
        reply = await self.ask(
            "themes",
            fenced,
            make_reply_schema({"evidence": make_text_schema(number), "themes": themes}, number),
            check=lambda value: _find_theme_mistake(value["themes"], len(criteria)),
            most=str(most),
        )
        found = [
            (clean_line(one["name"])[:MAX_NAME], [place - 1 for place in one["members"]])
            for one in reply.value["themes"]
            if one["members"]
        ]
        return found, reply.usage

    def fence_samples(self, shown: Sequence[GradedSample]) -> FencedTexts:
        """Return the samples in fences, the labels outside of them, as one text `samples`."""
        titles, words = TITLES[self.language], _WORDS[self.language]
        texts: dict[str, str] = {}
        named: dict[str, str] = {}
        for at, one in enumerate(shown, 1):
            texts[f"question {at}"] = as_text(one.sample.query)
            named[f"question {at}"] = f"{titles['question']} {at}"
            for place, answer in enumerate(one.sample.answers):
                key = _name_answer(at, place, one)
                texts[f"answer {key}"] = answer
                named[f"answer {key}"] = f"{titles['answer']} {key}"
        fenced = fence_texts(texts, self.max_chars, named, self.without)
        lines: list[str] = []
        for at, one in enumerate(shown, 1):
            lines += [words["example"].format(at), fenced.texts[f"question {at}"]]
            for place, label in enumerate(one.sample.labels):
                key = _name_answer(at, place, one)
                lines += [fenced.texts[f"answer {key}"], _write_label(words, key, label, one)]
                if one.verdicts and one.verdicts[place] >= 0:
                    lines.append(words["yes" if one.verdicts[place] else "no"].format(key))
        return replace(fenced, texts={"samples": "\n\n".join(line for line in lines if line)})


def _name_answer(at: int, place: int, one: GradedSample) -> str:
    return str(at) if len(one.sample.answers) == 1 else f"{at}.{place + 1}"


def _write_label(words: dict[str, str], key: str, label: float, one: GradedSample) -> str:
    if one.bounds is None:
        return words["rank"].format(key, label, len(one.sample.answers))
    return words["score"].format(key, label, *one.bounds)


def clean_line(text: str) -> str:
    """Return the text as one line of printable characters, without chat tokens; "" if too long.

    Prompts show a criterion unfenced, and the model that wrote it has read untrusted answers.
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    line = break_chat_tokens(line)
    return line if len(line) <= MAX_CRITERION else ""


def _find_theme_mistake(themes: Sequence[dict[str, Any]], n: int) -> str | None:
    members = sorted(place for one in themes for place in one["members"])
    if members == list(range(1, n + 1)):
        return None
    return f"the themes do not have each of the {n} criteria once"
