"""The five rule judges: outputs a second on one core beside two peers, and on labelled outputs.

Outputs are about 2 KB in UTF-8, half English and half Chinese, each different from all others, and
each answers a case of its own with claims, aspects, sources and tools. Time is the process's own
and the best of some rounds, each with cases of its own: neighbours on the machine count less. The
event loop is the one of `fourscore run`.

The peers do what people write by hand for the first of the five, on the same outputs in the same
run: find the sentence that is most like each claim, by `rapidfuzz` and by BM25. They give no
verdict, no reason and no evidence. The yardstick says how fast the machine is just then; the build
of Python matters, too.

    python benchmarks/dimensions.py
    python benchmarks/dimensions.py --rollouts 4
    python benchmarks/dimensions.py --data FOLDER
    python benchmarks/dimensions.py --labelled tests/labelled

With `--data`, the same on public text: summaries (`realsumm_whole.jsonl`) with the statements that
people looked for as claims and aspects, and answers (`ragchecker_pairs.json`) with the reference
answer.
"""

import argparse
import asyncio
import json
import math
import platform
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rapidfuzz import fuzz, process

from fourscore.agents.replay import RecordedAgent
from fourscore.core import Case, ConfigError, Message, Signal, Step, ToolCall, Trace
from fourscore.core.levels import FLOORS
from fourscore.executors import loop
from fourscore.formats.cases import CaseFile
from fourscore.judges.loading import load_judge

NAMES = (
    "factual_accuracy",
    "completeness",
    "citation_accuracy",
    "source_quality",
    "tool_efficiency",
)
ROLLOUTS = 1
SIZE = 2000
LEVELS = tuple(FLOORS)
Work = list[tuple[Case, Trace]]


class Fact(NamedTuple):
    """A sentence with a number, the same in other words, and the same with another number."""

    claim: str
    paraphrase: str
    wrong: str


class Language(NamedTuple):
    """The parts that outputs in one language are made of."""

    places: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    aspects: dict[str, str]
    filler: tuple[str, ...]
    question: str
    sites: tuple[str, ...]
    tools: tuple[str, str, str]


ENGLISH = Language(
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
CHINESE = Language(
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


def pairs(cases: int, seed: int, rollouts: int = ROLLOUTS) -> Work:
    chance, made = random.Random(seed), []
    for i in range(cases):
        language = CHINESE if i % 2 else ENGLISH
        case, facts, urls = _case(language, f"{seed}{i:05}", chance)
        for _ in range(rollouts):
            made.append((case, _trace(language, facts, urls, chance)))
    return made


def _case(language: Language, i: str, chance: random.Random) -> tuple[Case, list[Fact], list[str]]:
    place = chance.choice(language.places)
    facts = []
    for claim, paraphrase in language.facts:
        n, other = chance.sample(range(100, 3000), 2)
        facts.append(
            Fact(
                claim.format(p=place, n=n),
                paraphrase.format(p=place, n=n),
                paraphrase.format(p=place, n=other),
            )
        )
    urls = [site.format(s=f"site{chance.randrange(500)}", i=i) for site in language.sites]
    texts = [f"{facts[k].claim} {facts[(k + 1) % len(facts)].claim}" for k in range(len(urls))]
    sources = [
        {"id": k + 1, "url": url, "text": text}
        for k, (url, text) in enumerate(zip(urls, texts, strict=True))
    ]
    expected = {
        "claims": [{"text": fact.claim} for fact in facts],
        "aspects": list(language.aspects),
        "sources": sources,
        "tools": {"expected": list(language.tools), "max_calls": 8},
    }
    question = language.question.format(p=place, i=i)
    return Case(id=f"case-{i}", input=question, expected=expected), facts, urls


def _trace(language: Language, facts: list[Fact], urls: list[str], chance: random.Random) -> Trace:
    """Most facts are right and cited, some are wrong or missing; one aspect is left out."""
    left_out = chance.choice(list(language.aspects))
    statements = [
        f"{fact.paraphrase if chance.random() < 0.7 else fact.wrong}[{k % len(urls) + 1}]"
        for k, fact in enumerate(facts)
        if chance.random() < 0.85
    ]
    sections = []
    for k, (aspect, text) in enumerate(language.aspects.items()):
        if aspect != left_out:
            body = [text, *statements[k * 2 : k * 2 + 2], *chance.sample(language.filler, 2)]
            sections.append(f"## {aspect}\n" + " ".join(body))
    tail = "\n\n" + "\n".join(f"[{k + 1}] {url}" for k, url in enumerate(urls))
    text = "\n\n".join(sections)
    while len((text + tail).encode()) < SIZE:
        text += f" {chance.choice(language.places)}: {chance.choice(language.filler)}"
    return Trace(output=text + tail, steps=tuple(_steps(language, facts, urls, chance)))


def _steps(
    language: Language, facts: list[Fact], urls: list[str], chance: random.Random
) -> Iterator[Step]:
    search, page, calculator = language.tools
    word = str(chance.randrange(10**6))
    yield Message(role="assistant", content=chance.choice(language.filler))
    hits = [{"title": language.filler[k], "url": url} for k, url in enumerate(urls)]
    yield ToolCall(name=search, arguments={"query": f"{language.places[0]} {word}"}, result=hits)
    read = "\n".join(fact.claim for fact in facts)  # a page does not change between attempts
    for url in urls:
        yield ToolCall(name=page, arguments={"url": url}, result=read)
    if chance.random() < 0.3:
        yield ToolCall(name=page, arguments={"url": urls[0]}, result=read)
    yield ToolCall(name=calculator, arguments={"expression": f"{word} / 12"}, result=int(word) / 12)


def load_rule_judge(name: str) -> Any:
    try:
        return load_judge(name)
    except ConfigError as error:
        print(f"  {name:18} cannot be loaded: {error}", file=sys.stderr)
        return None


async def run(judges: list[Any], work: Work) -> list[Signal]:
    signals: list[Signal] = []
    for case, trace in work:
        for judge in judges:
            signals += await judge.judge(case, trace)
    return signals


async def measure_time(judges: list[Any], work: Work) -> tuple[list[Signal], float]:
    start = time.process_time()
    signals = await run(judges, work)
    return signals, time.process_time() - start


def match_by_rapidfuzz(claims: list[str], output: str) -> list[int]:
    """Return the index of the sentence that is most similar to each claim by its set of words."""
    sentences = [" ".join(_words(sentence)) for sentence in _STOP.split(output)]
    wanted = [" ".join(_words(claim)) for claim in claims]
    found = [process.extractOne(one, sentences, scorer=fuzz.token_set_ratio) for one in wanted]
    return [number for _, _, number in found]


def match_by_bm25(claims: list[str], output: str) -> list[int]:
    """Return the index of the sentence that each claim finds by Okapi BM25."""
    sentences = [Counter(_words(sentence)) for sentence in _STOP.split(output)]
    lengths = [sum(counts.values()) for counts in sentences]
    mean = sum(lengths) / len(sentences)
    having = Counter(word for counts in sentences for word in counts)
    best = []
    for claim in claims:
        scores = [0.0] * len(sentences)
        for word in _words(claim):
            rarity = math.log(1 + (len(sentences) - having[word] + 0.5) / (having[word] + 0.5))
            for number, counts in enumerate(sentences):
                if times := counts.get(word):
                    length = 0.25 + 0.75 * lengths[number] / mean
                    scores[number] += rarity * times * 2.5 / (times + 1.5 * length)
        best.append(scores.index(max(scores)))
    return best


PEERS = {"rapidfuzz, claims": match_by_rapidfuzz, "BM25, claims": match_by_bm25}


def time_peer(match: Callable[[list[str], str], list[int]], work: Work) -> float:
    """Return the seconds that a peer takes for the claims of all outputs."""
    tasks = [
        ([claim["text"] for claim in case.expected["claims"]], trace.answer) for case, trace in work
    ]
    start = time.process_time()
    for claims, output in tasks:
        match(claims, output)
    return time.process_time() - start


_STOP = re.compile(r"(?<=[.!?。！？])\s*")
_WORD = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def yardstick() -> float:
    """Return the seconds for a million empty loops, to compare machines."""
    start = time.process_time()
    for _ in range(1_000_000):
        pass
    return time.process_time() - start


def speed(cases: int, rollouts: int, rounds: int) -> None:
    """Print outputs a second of each judge, of all and of the peers, on generated outputs."""
    compare_speed("made up", lambda seed: pairs(cases, seed, rollouts), rounds)
    empty = min(yardstick() for _ in range(rounds))
    print(f"yardstick: a million empty loops take {1000 * empty:.0f} ms")
    print(f"CPython {platform.python_version()}, {Path(sys.executable).resolve()}")


def compare_speed(title: str, make: Callable[[int], Work], rounds: int) -> None:
    """Print outputs a second on the work that `make` returns for each round."""
    judges = {name: judge for name in NAMES if (judge := load_rule_judge(name)) is not None}
    sets: dict[str, list[Any]] = {name: [judge] for name, judge in judges.items()}
    sets[f"all {len(judges)}"] = list(judges.values())
    sizes = [len(trace.answer.encode()) for _, trace in make(0)]
    print(f"{title}: {len(sizes):,} outputs of {sum(sizes) / len(sizes):,.0f} bytes in each round")
    for number, (name, chosen) in enumerate(sets.items(), 1):
        loop.run(run(chosen, pairs(10, 1)))  # warm up
        best, values = 0.0, list[float]()
        for seed in range(number * rounds, (number + 1) * rounds):
            work = make(seed)
            signals, seconds = loop.run(measure_time(chosen, work))
            best = max(best, len(work) / seconds)
            values += [signal.value for signal in signals if signal.value is not None]
        mean = f"mean {sum(values) / len(values):.2f}" if values else "not applicable"
        print(f"  {name:18} {best:8,.0f} outputs/s  {mean}")
    for name, match in PEERS.items():
        peer = max(len(work) / time_peer(match, work) for work in map(make, range(rounds)))
        print(f"  {name:18} {peer:8,.0f} outputs/s  all five: {best / peer:.2f} times as many")


def read_public(folder: Path) -> dict[str, Work]:
    """Read public outputs with the claims or aspects that people looked for in them."""
    rows = map(json.loads, (folder / "realsumm_whole.jsonl").read_text("utf-8").splitlines())
    answers = json.loads((folder / "ragchecker_pairs.json").read_text("utf-8"))
    return {
        "summaries": [_public(f"summary-{i}", row["aspects"], row) for i, row in enumerate(rows)],
        "answers": [
            _public(f"answer-{i}-{k}", [row["gt_answer"]], {"input": row["query"], "output": text})
            for i, row in enumerate(answers)
            for k, text in enumerate((row["model1"]["response"], row["model2"]["response"]))
        ],
    }


def _public(name: str, texts: list[str], row: dict[str, str]) -> tuple[Case, Trace]:
    expected = {"claims": [{"text": text} for text in texts], "aspects": texts}
    return Case(id=name, input=row["input"], expected=expected), Trace(output=row["output"])


def labelled(folder: Path) -> None:
    for name in NAMES:
        judge = load_rule_judge(name)
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
    parser.add_argument("--cases", type=int, default=200, help="cases in each round")
    parser.add_argument("--rollouts", type=int, default=ROLLOUTS, help="outputs of each case")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the best one counts")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="also measure public data sets")
    parser.add_argument("--labelled", type=Path, metavar="DIR")
    args = parser.parse_args()
    if args.labelled is not None:
        labelled(args.labelled)
        return
    if args.data is not None:
        for title, work in read_public(args.data).items():
            compare_speed(title, lambda _, work=work: work, args.rounds)  # type: ignore[misc]
    speed(args.cases, args.rollouts, args.rounds)


if __name__ == "__main__":
    main()
