"""How often the monitor raises a false alarm, how soon it finds a fall, and what a sample costs.

    python benchmarks/monitoring.py [--runs 1000] [--seed 1]

A good service passes 88 of 100 interactions; it falls to 70, at once or after 5,000 good ones. The
peer is the literal rule, the pass rate of all time against 0.85 and 0.70, on the same verdicts.
*Found* is the first warning or worse. Then, for rates between and below the thresholds: when the
overall stream first raises an alarm and by which test; how long after a recovery the alarm is over;
how often a whole state (5 dimensions, 6 tags, judge errors, drift) raises any false alarm in 5,000
samples; and the cost of folding one sample.
"""

import argparse
import random
import statistics
import time
from collections import Counter
from collections.abc import Iterator

import msgspec

from fourscore.core import Status
from fourscore.monitor.sample import Sample
from fourscore.monitor.settings import Thresholds
from fourscore.monitor.state import MonitorState
from fourscore.stats.rate_alarm import AlarmPlan, RateAlarm

GOOD, FALLEN = 0.88, 0.70
LIFE = 5000
ALARMS = ("warning", "critical")
NAMES = {False: "sequential", True: "literal"}
RULES = Thresholds()


def first_alarm(
    rng: random.Random, alarm: RateAlarm, plan: AlarmPlan, rate: float, most: int
) -> int | None:
    """Return after how many samples at this rate the status is an alarm; None where it never is."""
    for n in range(1, most + 1):
        alarm.fold(rng.random() < rate, float(alarm.n), plan)
        if alarm.status in ALARMS and alarm.n >= RULES.min_samples:
            return n
    return None


def false_alarms(seed: int, runs: int, simple: bool) -> tuple[float, float]:
    """Return the share of good runs with a warning by 1,000 and by 5,000 samples.

    The literal rule is checked from the 20th sample on, like the other.
    """
    plan = make_plan(simple)
    rngs = (random.Random(f"{seed} good {run}") for run in range(runs))
    found = [first_alarm(rng, RateAlarm(), plan, GOOD, LIFE) for rng in rngs]
    return (
        sum(n is not None and n <= 1000 for n in found) / runs,
        sum(n is not None for n in found) / runs,
    )


def make_plan(simple: bool) -> AlarmPlan:
    return RULES.plan("overall", "simple" if simple else "sequential")


def delays(seed: int, alarms: list[RateAlarm], rate: float, simple: bool) -> list[int]:
    """Return after how many samples at a rate each run has its alarm."""
    plan, most = make_plan(simple), 50_000
    rngs = (random.Random(f"{seed} fall {run}") for run in range(len(alarms)))
    return [
        first_alarm(rng, alarm, plan, rate, most) or most
        for rng, alarm in zip(rngs, alarms, strict=True)
    ]


def make_aged_alarms(seed: int, runs: int, simple: bool, rate: float) -> list[RateAlarm]:
    """Return alarms after 5,000 good samples that are healthy at that moment."""
    rng, plan = random.Random(f"{seed} aged {rate}"), make_plan(simple)
    alarms: list[RateAlarm] = []
    while len(alarms) < runs:
        alarm = RateAlarm()
        for n in range(LIFE):
            alarm.fold(rng.random() < rate, float(n), plan)
        if alarm.status == "healthy":
            alarms.append(alarm)
    return alarms


def quartiles(values: list[int]) -> str:
    a, b, c = statistics.quantiles(values, n=4)
    return f"{b:7.0f}   ({a:.0f} to {c:.0f})"


def print_false_alarms_and_delays(seed: int, runs: int) -> None:
    print(f"{runs} runs at {GOOD}: the share with a false warning")
    print("rule         by 1,000   by 5,000")
    for simple in (False, True):
        early, late = false_alarms(seed, runs, simple)
        print(f"{NAMES[simple]:12} {early:8.1%} {late:10.1%}")
    some = max(50, runs // 4)
    print(f"\nsamples until a fall to {FALLEN} is found, median and quartiles of {some}")
    print(f"rule         at once                after {LIFE} at 0.88       after {LIFE} at 0.92")
    for simple in (False, True):
        starts = [[RateAlarm() for _ in range(some)]]
        starts += [make_aged_alarms(seed, some, simple, rate) for rate in (GOOD, 0.92)]
        columns = (quartiles(delays(seed, alarms, FALLEN, simple)) for alarms in starts)
        print(f"{NAMES[simple]:12}", "   ".join(f"{each:22}" for each in columns).rstrip())


def print_rates(seed: int, runs: int) -> None:
    print(
        f"\nrate   first alarm, median of {runs}   by the sum   critical within 5,000   over after"
    )
    plan = make_plan(False)
    for rate in (0.84, 0.83, 0.82, 0.80, 0.75, 0.70, 0.60, 0.50):
        rng, found, over = random.Random(f"{seed} {rate}"), [], []
        methods, critical = Counter[str](), 0
        for _ in range(runs):
            alarm = RateAlarm()
            turns = list(find_alarms(rng, alarm, plan, rate))
            found.append(turns[0][0] if turns else LIFE)
            methods.update([turns[0][1]] if turns else [])
            critical += any(word == "critical" for _, _, word in turns)
            alarm = RateAlarm()
            first_alarm(rng, alarm, plan, rate, 50_000)
            over.append(recovery(rng, alarm, plan))
        share = methods["cusum"] / (methods.total() or 1)
        print(
            f"{rate:.2f} {quartiles(found):>26} {share:12.0%} {critical / runs:17.0%} "
            f"{statistics.median(over):18.0f}"
        )


def find_alarms(
    rng: random.Random, alarm: RateAlarm, plan: AlarmPlan, rate: float
) -> Iterator[tuple[int, str, str]]:
    for n in range(1, LIFE + 1):
        turn = alarm.fold(rng.random() < rate, float(n), plan)
        if turn is not None and turn.after in ALARMS:
            yield n, turn.method, turn.after


def recovery(rng: random.Random, alarm: RateAlarm, plan: AlarmPlan) -> int:
    """Return the number of samples at the good rate until the status is healthy again."""
    for n in range(1, 50_000):
        alarm.fold(rng.random() < GOOD, float(n), plan)
        if alarm.status == "healthy":
            return n
    return 50_000


def traffic(rng: random.Random, n: int, rate: float = GOOD) -> Iterator[Sample]:
    """Yield good samples, whose dimensions pass at the same rate; one judge error in a hundred."""
    for i in range(n):
        passed = rng.random() < rate
        failed = rng.random() < 0.01
        yield Sample(
            id=f"{rng.getrandbits(64):016x}",
            at=float(i),
            status=Status.JUDGE_ERROR if failed else Status.SCORED,
            passed=None if failed else passed,
            value=None if failed else rng.uniform(0.7, 1) if passed else rng.uniform(0, 0.7),
            dimensions={}
            if failed
            else {
                name: rng.uniform(0.7, 1) if rng.random() < rate else rng.uniform(0, 0.7)
                for name in ("factual", "complete", "cited", "sources", "tools")
            },
            tags=("web", rng.choice(("en", "zh", "de")), rng.choice(("refunds", "orders"))),
            length=int(rng.lognormvariate(6, 1)),
            tool_calls=2,
            tool_errors=int(rng.random() < 0.03),
        )


def count_false_alarms(seed: int, runs: int) -> None:
    rng, false_runs, streams = random.Random(f"{seed} all"), 0, Counter[str]()
    for _ in range(runs):
        state = MonitorState()
        names = {c.stream for s in traffic(rng, LIFE) for c in state.fold(s)}
        false_runs += bool(names)
        streams.update(names)
    found = ", ".join(f"{name} {count}" for name, count in streams.most_common()) or "none"
    print(
        f"\nwhole states with any false alarm in {LIFE} samples: {false_runs} of {runs} ({found})"
    )


def print_cost(seed: int) -> None:
    samples = list(traffic(random.Random(f"{seed} cost"), 4000))
    best = float("inf")
    for _ in range(5):
        state = MonitorState()
        began = time.process_time()
        for sample in samples:
            state.fold(sample)
        best = min(best, (time.process_time() - began) / len(samples))
    encoded = msgspec.json.encode(state)
    began = time.process_time()
    for _ in range(200):
        msgspec.json.decode(msgspec.json.encode(state), type=MonitorState)
    trip = (time.process_time() - began) / 200
    print(f"\none sample, 5 dimensions, 3 of 6 tags: {best * 1e6:.0f} µs")
    print(f"the state: {len(encoded):,} bytes, {trip * 1e6:.0f} µs to JSON and back")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print_false_alarms_and_delays(options.seed, options.runs)
    print_rates(options.seed, max(20, options.runs // 10))
    count_false_alarms(options.seed, max(5, options.runs // 20))
    print_cost(options.seed)


if __name__ == "__main__":
    main()
