"""What a model is shown of a prompt and its failures: all in fences of one number, and bounded."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from fourscore.core import Case, ConfigError
from fourscore.core.trace import as_text
from fourscore.evolve.mutations.failure import Failure
from fourscore.evolve.mutations.placeholders import blocks, places
from fourscore.judges.llm.injection_defences import fence
from fourscore.judges.llm.prompts import Language, read_prompt

SHIPPED = Path(__file__).parent / "prompts"
_TITLES = {
    "en": {
        "parent": "PROMPT",
        "keep": "KEEP",
        "input": "INPUT",
        "output": "OUTPUT",
        "remarks": "REMARKS",
        "task": "TASK THAT WENT WELL",
    },
    "zh": {
        "parent": "提示词",
        "keep": "保留",
        "input": "输入",
        "output": "输出",
        "remarks": "意见",
        "task": "成功的任务",
    },
}
#: What each field of a failure is called where it is shown.
FIELDS = ("input", "output", "remarks")


class Shown(NamedTuple):
    """Texts in fences. `failures` has the fields of each failure apart."""

    number: str
    parent: str
    keep: str
    failures: tuple[Mapping[str, str], ...]
    passed: tuple[str, ...]


def show(
    parent: str,
    failures: Sequence[Failure],
    passed: Sequence[Case] = (),
    *,
    required: Sequence[str] = (),
    language: Language = "en",
    limit: int = 1500,
) -> Shown:
    """The prompt whole, everything else cut to `limit` characters."""
    titles = _TITLES[language]
    keep = [*sorted(places(parent)), *dict.fromkeys(blocks(parent)), *required]
    texts = {"parent": parent, "keep": "\n".join(keep)}
    for at, one in enumerate(failures, 1):
        found = {"input": one.input, "output": one.output, "remarks": remarks(one)}
        texts |= {f"{name} {at}": _cut(found[name], limit) for name in FIELDS}
    for at, case in enumerate(passed, 1):
        asked, wanted = as_text(case.input), as_text(case.expected)
        texts[f"task {at}"] = _cut(asked, limit) + (f"\n→ {_cut(wanted, limit)}" if wanted else "")
    named = {key: " ".join([titles[key.split()[0]], *key.split()[1:]]) for key in texts}
    most = max(len(parent), len(texts["keep"]), 2 * limit + 4)
    fenced = fence(texts, most, named)
    return Shown(
        fenced.number,
        fenced.texts["parent"],
        fenced.texts["keep"],
        tuple(
            {name: fenced.texts[f"{name} {at}"] for name in FIELDS}
            for at in range(1, len(failures) + 1)
        ),
        tuple(fenced.texts[f"task {at}"] for at in range(1, len(passed) + 1)),
    )


def remarks(failure: Failure) -> str:
    """What the judges said, the weakest signal first, with what they quoted."""
    lines = [failure.reason] if failure.reason else []
    for one in failure.complaints:
        lines.append(f"{one.signal} {100 * one.value:.0f} of 100: {one.reason}")
        lines += [f"  “{text}”" for text in one.evidence]
    return "\n".join(lines)


def worst(failures: Sequence[Failure], signal: str, most: int, rng: Random) -> list[Failure]:
    """The failures that show most of a signal; chance where they are even, so that others are
    seen the next time."""
    drawn = [(one.signals.get(signal, one.value), rng.random(), one) for one in failures]
    drawn.sort(key=lambda entry: entry[:2])
    return [one for _, _, one in drawn[:most]]


def folder_of(name: str, language: Language, own: str | None) -> str:
    """Where the words of a prompt are: in a folder of one's own where it has them, else here."""
    if own is None:
        return str(SHIPPED)
    folder = Path(own).expanduser()
    if not folder.is_dir():
        raise ConfigError("no such folder", file=str(folder), field="prompt_folder")
    has = any((folder / part / f"{name}.md").is_file() for part in (language, "."))
    if not has:
        return str(SHIPPED)
    found = read_prompt(name, language, str(folder))
    known = read_prompt(name, language, str(SHIPPED)).places
    if odd := sorted(found.places - known):
        message = f"{{{{{odd[0]}}}}} is not filled in here; known: {', '.join(sorted(known))}"
        raise ConfigError(message, file=found.file)
    return str(folder)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
