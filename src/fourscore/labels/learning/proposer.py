"""The questions in which labels are shown: what criteria the grader may go by, and themes for them.

What comes back is the model's, and the model has read what others wrote: a criterion is one short
line, and nothing but the labels decides whether it stays.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from fourscore.core import Usage
from fourscore.core.trace import as_text
from fourscore.formats.labelled_samples import Sample
from fourscore.judges.llm.injection_defences import FencedTexts, fence_texts
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.prompts import TITLES
from fourscore.judges.llm.verdicts import make_reply_schema, make_text_schema

#: Characters of a criterion, and of the name of a theme.
LONGEST, NAME = 300, 40
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


class Shown(NamedTuple):
    """A sample to be shown with its labels; `verdicts` are those of a criterion, by place."""

    sample: Sample
    bounds: tuple[float, float] | None
    verdicts: tuple[int, ...] = ()


class Proposer(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Asks for criteria. Of each text it shows `max_chars` characters."""

    max_chars: int = 3000

    async def propose(
        self, shown: Sequence[Shown], known: Sequence[str], most: int
    ) -> tuple[list[str], Usage]:
        """New criteria from graded samples."""
        material = self.graded(shown)
        number = material.number if self.bind == "schema" else None
        bounds = {} if number is None else {"maxItems": most}
        listed = {"type": "array", "items": make_text_schema(number), **bounds}
        reply = await self.ask(
            "propose",
            material,
            make_reply_schema({"evidence": make_text_schema(number), "criteria": listed}, number),
            known="; ".join(known) or _WORDS[self.language]["none"],
            most=str(most),
        )
        texts = (clean_line(text) for text in reply.value["criteria"])
        return list(dict.fromkeys(text for text in texts if text))[:most], reply.usage

    async def revise(self, criterion: str, shown: Sequence[Shown]) -> tuple[str, Usage]:
        """A better criterion, from answers on which this one disagrees with the grader."""
        material = self.graded(shown)
        number = material.number if self.bind == "schema" else None
        schema = make_reply_schema(
            {"evidence": make_text_schema(number), "criterion": make_text_schema(number)}, number
        )
        reply = await self.ask("revise", material, schema, criterion=criterion)
        return clean_line(reply.value["criterion"]), reply.usage

    async def themes(
        self, criteria: Sequence[str], most: int
    ) -> tuple[list[tuple[str, list[int]]], Usage]:
        """The criteria sorted into themes: a name each, and the places of its members."""
        text = "\n".join(f"{place}. {one}" for place, one in enumerate(criteria, 1))
        material = fence_texts(
            {"text": text}, self.max_chars * 10, TITLES[self.language], self.without
        )
        number = material.number if self.bind == "schema" else None
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
            material,
            make_reply_schema({"evidence": make_text_schema(number), "themes": themes}, number),
            check=lambda value: _sorted_once(value["themes"], len(criteria)),
            most=str(most),
        )
        found = [
            (clean_line(one["name"])[:NAME], [place - 1 for place in one["members"]])
            for one in reply.value["themes"]
            if one["members"]
        ]
        return found, reply.usage

    def graded(self, shown: Sequence[Shown]) -> FencedTexts:
        """The samples in fences of one number, the labels outside of them, as `samples`."""
        titles, words = TITLES[self.language], _WORDS[self.language]
        texts: dict[str, str] = {}
        named: dict[str, str] = {}
        for at, one in enumerate(shown, 1):
            texts[f"question {at}"] = as_text(one.sample.query)
            named[f"question {at}"] = f"{titles['question']} {at}"
            for place, answer in enumerate(one.sample.answers):
                key = _place(at, place, one)
                texts[f"answer {key}"] = answer
                named[f"answer {key}"] = f"{titles['answer']} {key}"
        material = fence_texts(texts, self.max_chars, named, self.without)
        lines: list[str] = []
        for at, one in enumerate(shown, 1):
            lines += [words["example"].format(at), material.texts[f"question {at}"]]
            for place, label in enumerate(one.sample.labels):
                key = _place(at, place, one)
                lines += [material.texts[f"answer {key}"], _label(words, key, label, one)]
                if one.verdicts and one.verdicts[place] >= 0:
                    lines.append(words["yes" if one.verdicts[place] else "no"].format(key))
        return replace(material, texts={"samples": "\n\n".join(line for line in lines if line)})


def _place(at: int, place: int, one: Shown) -> str:
    return str(at) if len(one.sample.answers) == 1 else f"{at}.{place + 1}"


def _label(words: dict[str, str], key: str, label: float, one: Shown) -> str:
    if one.bounds is None:
        return words["rank"].format(key, label, len(one.sample.answers))
    return words["score"].format(key, label, *one.bounds)


def clean_line(text: str) -> str:
    """One line of printable text; nothing where it is too long to be one criterion."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= LONGEST else ""


def _sorted_once(themes: Sequence[dict[str, Any]], n: int) -> str | None:
    members = sorted(place for one in themes for place in one["members"])
    if members == list(range(1, n + 1)):
        return None
    return f"the themes do not have each of the {n} criteria once"
