"""The five rule judges: outputs a second on one core, and how they do on labelled outputs.

Outputs are about 2 KB in UTF-8, half English and half Chinese, each different from all others; four
answer the same case, as rollouts and repeats do. Each case has claims, aspects, sources and tools.
Time is the process's own and the best of some rounds, each with cases of its own: neighbours on the
machine count less. The event loop is the one of `rubrica run`. The peer is what people write by
hand for the first of the five: the sentence that is most like each claim, by `difflib`. The
yardstick says how fast the machine is just then; the build of Python matters, too.

    python benchmarks/dimensions.py
    python benchmarks/dimensions.py --rollouts 1
    python benchmarks/dimensions.py --labelled tests/labelled
"""

import argparse
import asyncio
import platform
import random
import re
import sys
import time
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

from rubrica.core import Case, ConfigError, Message, Signal, Step, ToolCall, Trace
from rubrica.core.levels import FLOORS
from rubrica.executors import loop
from rubrica.judges.protocol import load
from rubrica.phases.agent_recorded import RecordedAgent
from rubrica.readers.cases import CaseFile

NAMES = (
    "factual_accuracy",
    "completeness",
    "citation_accuracy",
    "source_quality",
    "tool_efficiency",
)
ROLLOUTS = 4
SIZE = 2000
LEVELS = tuple(FLOORS)


class Fact(NamedTuple):
    """A sentence with a number, the same in other words, and the same with another number."""

    claim: str
    told: str
    wrong: str


class Tongue(NamedTuple):
    """What outputs are made of in one language."""

    places: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    aspects: dict[str, str]
    filler: tuple[str, ...]
    question: str
    sites: tuple[str, ...]
    tools: tuple[str, str, str]


ENGLISH = Tongue(
    places=("Harwick", "Norvale", "Port Ellery", "Lindholm", "Castra", "Oakmere", "Tarn Bay"),
    facts=(
        ("The bridge at {p} was opened in {n}.", "In {n} traffic first crossed {p}'s bridge."),
        ("{p} has {n} inhabitants.", "Some {n} people live in {p} today."),
        ("The bridge is {n} metres long.", "It spans {n} m between its abutments."),
        ("It cost {n} million euros.", "The bill came to EUR {n} million in the end."),
        ("The works took {n} months.", "Builders were busy for {n} months."),
        ("A toll of {n} cents is charged.", "Drivers pay {n} cents to cross."),
    ),
    aspects={
        "construction history": "Piers were sunk from barges before the deck was launched.",
        "costs and funding": "Two thirds of the budget came from the region, the rest from bonds.",
        "environmental impact": "Eels and terns are counted every spring, without a clear loss.",
        "traffic effects": "Ferries stopped, and commuting times fell by about a quarter.",
        "maintenance": "Bearings are greased twice a year and cables are inspected by drone.",
    },
    filler=(
        "Local papers followed the debate with patience and some humour.",
        "Engineers who worked on it still meet for dinner every autumn.",
        "None of this was obvious when the first sketches were drawn.",
        "The council keeps the minutes in a small archive near the harbour.",
        "Whether the next generation will agree remains to be seen.",
    ),
    question="Write a report on the bridge at {p}, number {i}, with sources.",
    sites=(
        "https://www.{s}.gov/bridge/{i}",
        "https://en.wikipedia.org/wiki/{s}_bridge_{i}",
        "https://doi.org/10.1000/{s}.{i}",
        "https://{s}-fans.blogspot.com/{i}",
    ),
    tools=("web_search", "open_page", "calculator"),
)
CHINESE = Tongue(
    places=("青石镇", "临江市", "云岭县", "海门港", "白沙村", "东河区", "南屏镇"),
    facts=(
        ("{p}大桥于{n}年通车。", "{n}年，{p}的大桥正式开放通行。"),
        ("{p}有{n}名居民。", "目前约有{n}人住在{p}。"),
        ("大桥全长{n}米。", "桥身总长度为{n}米。"),
        ("工程耗资{n}万元。", "最后一共花了{n}万元。"),
        ("施工历时{n}个月。", "整个工期为{n}个月。"),
        ("过桥费为{n}元。", "司机过桥需交{n}元。"),
    ),
    aspects={
        "建设过程": "桥墩先用驳船下沉，然后再逐段推进桥面。",
        "资金来源": "三分之二由省里拨款，其余靠发行债券筹集。",
        "环境影响": "每年春天都会统计鱼类和候鸟，没有明显减少。",
        "交通影响": "渡轮停运以后，通勤时间缩短了大约四分之一。",
        "日常维护": "支座每年润滑两次，拉索用无人机检查。",
    },
    filler=(
        "当地报纸一直耐心地跟踪报道这场讨论。",
        "参与建设的工程师每年秋天还会聚会。",
        "刚画草图的时候，谁也没有想到会这样。",
        "会议记录保存在港口旁边的小档案馆里。",
        "下一代人是否同意，还有待观察。",
    ),
    question="请写一份关于{p}大桥的报告（第{i}份），并注明来源。",
    sites=(
        "https://www.{s}.gov.cn/art/{i}.html",
        "https://baike.baidu.com/item/{s}/{i}",
        "https://doi.org/10.1000/{s}.{i}",
        "https://mp.weixin.qq.com/s/{s}{i}",
    ),
    tools=("网页搜索", "打开网页", "计算器"),
)


def pairs(cases: int, seed: int, rollouts: int = ROLLOUTS) -> list[tuple[Case, Trace]]:
    chance, made = random.Random(seed), []
    for i in range(cases):
        tongue = CHINESE if i % 2 else ENGLISH
        case, facts, urls = _case(tongue, f"{seed}{i:05}", chance)
        for _ in range(rollouts):
            made.append((case, _trace(tongue, facts, urls, chance)))
    return made


def _case(tongue: Tongue, i: str, chance: random.Random) -> tuple[Case, list[Fact], list[str]]:
    place = chance.choice(tongue.places)
    facts = []
    for claim, told in tongue.facts:
        n, other = chance.sample(range(100, 3000), 2)
        facts.append(
            Fact(
                claim.format(p=place, n=n),
                told.format(p=place, n=n),
                told.format(p=place, n=other),
            )
        )
    urls = [site.format(s=f"site{chance.randrange(500)}", i=i) for site in tongue.sites]
    texts = [f"{facts[k].claim} {facts[(k + 1) % len(facts)].claim}" for k in range(len(urls))]
    sources = [
        {"id": k + 1, "url": url, "text": text}
        for k, (url, text) in enumerate(zip(urls, texts, strict=True))
    ]
    expected = {
        "claims": [{"text": fact.claim} for fact in facts],
        "aspects": list(tongue.aspects),
        "sources": sources,
        "tools": {"expected": list(tongue.tools), "max_calls": 8},
    }
    question = tongue.question.format(p=place, i=i)
    return Case(id=f"case-{i}", input=question, expected=expected), facts, urls


def _trace(tongue: Tongue, facts: list[Fact], urls: list[str], chance: random.Random) -> Trace:
    """Most facts are told right and cited, some are wrong or missing; one aspect is left out."""
    left_out = chance.choice(list(tongue.aspects))
    told = [
        f"{fact.told if chance.random() < 0.7 else fact.wrong}[{k % len(urls) + 1}]"
        for k, fact in enumerate(facts)
        if chance.random() < 0.85
    ]
    sections = []
    for k, (aspect, text) in enumerate(tongue.aspects.items()):
        if aspect != left_out:
            body = [text, *told[k * 2 : k * 2 + 2], *chance.sample(tongue.filler, 2)]
            sections.append(f"## {aspect}\n" + " ".join(body))
    tail = "\n\n" + "\n".join(f"[{k + 1}] {url}" for k, url in enumerate(urls))
    text = "\n\n".join(sections)
    while len((text + tail).encode()) < SIZE:
        text += f" {chance.choice(tongue.places)}: {chance.choice(tongue.filler)}"
    return Trace(output=text + tail, steps=tuple(_steps(tongue, facts, urls, chance)))


def _steps(
    tongue: Tongue, facts: list[Fact], urls: list[str], chance: random.Random
) -> Iterator[Step]:
    search, page, calculator = tongue.tools
    word = str(chance.randrange(10**6))
    yield Message(role="assistant", content=chance.choice(tongue.filler))
    hits = [{"title": tongue.filler[k], "url": url} for k, url in enumerate(urls)]
    yield ToolCall(name=search, arguments={"query": f"{tongue.places[0]} {word}"}, result=hits)
    read = "\n".join(fact.claim for fact in facts)  # a page does not change between attempts
    for url in urls:
        yield ToolCall(name=page, arguments={"url": url}, result=read)
    if chance.random() < 0.3:
        yield ToolCall(name=page, arguments={"url": urls[0]}, result=read)
    yield ToolCall(name=calculator, arguments={"expression": f"{word} / 12"}, result=int(word) / 12)


def found(name: str) -> Any:
    try:
        return load(name)
    except ConfigError as error:
        print(f"  {name:18} cannot be loaded: {error}", file=sys.stderr)
        return None


async def run(judges: list[Any], work: list[tuple[Case, Trace]]) -> list[Signal]:
    signals: list[Signal] = []
    for case, trace in work:
        for judge in judges:
            signals += await judge.judge(case, trace)
    return signals


async def timed(judges: list[Any], work: list[tuple[Case, Trace]]) -> tuple[list[Signal], float]:
    start = time.process_time()
    signals = await run(judges, work)
    return signals, time.process_time() - start


def by_hand(work: list[tuple[Case, Trace]]) -> float:
    """Seconds for finding the sentence that is most like each claim: no verdict, no reason."""
    start = time.process_time()
    for case, trace in work:
        said = [_words(sentence) for sentence in _STOP.split(trace.answer)]
        for claim in case.expected["claims"]:
            mine = SequenceMatcher(a=_words(claim["text"]))
            for other in said:
                mine.set_seq2(other)
                mine.ratio()
    return time.process_time() - start


_STOP = re.compile(r"(?<=[.!?。！？])\s*")
_WORD = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def yardstick() -> float:
    """Seconds for a million empty loops, whatever the judges do."""
    start = time.process_time()
    for _ in range(1_000_000):
        pass
    return time.process_time() - start


def speed(cases: int, rollouts: int, rounds: int) -> None:
    judges = {name: judge for name in NAMES if (judge := found(name)) is not None}
    sets: dict[str, list[Any]] = {name: [judge] for name, judge in judges.items()}
    sets[f"all {len(judges)}"] = list(judges.values())
    size = sum(len(trace.answer.encode()) for _, trace in pairs(20, 1)) / (20 * ROLLOUTS)
    print(f"{cases * rollouts:,} outputs of {size:,.0f} bytes, {rollouts} for each case")
    for number, (name, chosen) in enumerate(sets.items()):
        loop.run(run(chosen, pairs(10, 1)))  # what is loaded once is loaded
        best, values = 0.0, list[float]()
        for seed in range(2 + number * rounds, 2 + (number + 1) * rounds):
            work = pairs(cases, seed, rollouts)
            signals, seconds = loop.run(timed(chosen, work))
            best = max(best, len(work) / seconds)
            values += [signal.value for signal in signals if signal.value is not None]
        mean = sum(values) / max(1, len(values))
        print(f"  {name:18} {best:8,.0f} outputs/s  mean {mean:.2f}")
    hand = max(len(work) / by_hand(work) for work in [pairs(20, seed, rollouts) for seed in (1, 2)])
    times = f"all five do {best / hand:.1f} times as many"
    print(f"  {'difflib, claims':18} {hand:8,.0f} outputs/s  {times}")
    empty = min(yardstick() for _ in range(rounds))
    print(f"yardstick: a million empty loops take {1000 * empty:.0f} ms")
    print(f"CPython {platform.python_version()}, {Path(sys.executable).resolve()}")


def labelled(folder: Path) -> None:
    for name in NAMES:
        judge = found(name)
        for file in ("worked.jsonl", "frozen.jsonl"):
            path = folder / name / file
            if judge is not None and path.is_file():
                asyncio.run(compare(name, judge, path))


async def compare(name: str, judge: Any, path: Path) -> None:
    exact = far = total = 0
    missed = []
    for case in CaseFile(path).cases():
        (signal,) = await judge.judge(case, RecordedAgent().replay(case))
        right, given = case.metadata["level"], signal.level
        off = abs(LEVELS.index(right) - LEVELS.index(given)) if given else len(LEVELS)
        exact, far, total = exact + (off == 0), far + (off > 1), total + 1
        if off:
            kind = case.metadata.get("kind", "")
            missed.append(f"    {case.id} ({kind}): {right}, judged {given or 'not applicable'}")
    print(
        f"{name} {path.stem}: {exact}/{total} exact ({exact / total:.3f}), {far} more than one off"
    )
    print("\n".join(missed) if missed else "    none missed")


def main() -> None:
    parser = argparse.ArgumentParser(description="the five rule judges")
    parser.add_argument("--cases", type=int, default=200, help="in each round")
    parser.add_argument("--rollouts", type=int, default=ROLLOUTS, help="outputs of each case")
    parser.add_argument("--rounds", type=int, default=3, help="of which the best counts")
    parser.add_argument("--labelled", type=Path, metavar="DIR")
    args = parser.parse_args()
    if args.labelled is None:
        speed(args.cases, args.rollouts, args.rounds)
    else:
        labelled(args.labelled)


if __name__ == "__main__":
    main()
