"""The eight kinds of mutation, how often each was accepted so far, and which one to try next.

A strategy addresses a signal if such a change can plausibly improve it. For a signal that no
strategy addresses, such as one of the user's own rubric, all strategies are candidates.

Among several strategies the choice is random, weighted by how often each was accepted, starting
from one success and one failure. Once every strategy that addresses the weakest signal was tried
`PATIENCE` times without being accepted, one of the others is chosen.
"""

import hashlib
from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple, get_args

import msgspec

from fourscore.core import ConfigError
from fourscore.core.errors import suggest_known
from fourscore.evolve.limits import Risk
from fourscore.evolve.mutations.failures import Failure, find_weakest_signal

RISKS: tuple[Risk, ...] = get_args(Risk)


class Strategy(msgspec.Struct, frozen=True, kw_only=True):
    """`signals` are those it addresses; `en` and `zh` describe the change to people and models."""

    name: str
    risk: Risk
    signals: tuple[str, ...]
    en: str
    zh: str


STRATEGIES = {
    one.name: one
    for one in (
        Strategy(
            name="instruction_rephrase",
            risk="medium",
            signals=("output_quality", "tool_success_rate", "completeness", "factual_accuracy"),
            en="Say the instructions that were misunderstood in clearer and more concrete words. "
            "Add no demand and drop none.",
            zh="用更清楚、更具体的话重述被误解的指令。不增加要求，也不删去要求。",
        ),
        Strategy(
            name="step_reorder",
            risk="low",
            signals=("tool_efficiency", "tool_success_rate", "efficiency", "completeness"),
            en="Put the steps into a better order. Keep the words of every step.",
            zh="调整步骤的顺序，每一步的文字保持不变。",
        ),
        Strategy(
            name="constraint_add",
            risk="medium",
            signals=(
                "factual_accuracy",
                "completeness",
                "citation_accuracy",
                "source_quality",
                "tool_efficiency",
                "error_rate",
                "output_quality",
            ),
            en="Add one short constraint that would have prevented most of these failures. "
            "It has to hold for every task, not for these cases alone.",
            zh="增加一条简短的约束，能避免其中大多数失败。它必须适用于所有任务，而不只是这些例子。",
        ),
        Strategy(
            name="constraint_remove",
            risk="high",
            signals=("efficiency", "tool_efficiency", "output_quality"),
            en="Remove the one constraint that does more harm than good. Leave all else as it is.",
            zh="删去一条弊大于利的约束，其余保持不变。",
        ),
        Strategy(
            name="example_inject",
            risk="medium",
            signals=("structure_score", "output_quality", "citation_accuracy", "tool_success_rate"),
            en="Add one short example of a task done well. Make it up, or take it from the cases "
            "that went well; never from a failure.",
            zh="增加一个完成得好的简短示例。可以自拟，也可以取自成功的例子，但绝不能取自失败的例子。",
        ),
        Strategy(
            name="emphasis_shift",
            risk="low",
            signals=("citation_accuracy", "source_quality", "error_rate", "factual_accuracy"),
            en="Give more weight to the demand that was violated most: move it up, or mark it as "
            "important. Add no demand and drop none.",
            zh="突出最常被违反的要求：把它前移，或标明其重要。不增加要求，也不删去要求。",
        ),
        Strategy(
            name="format_change",
            risk="low",
            signals=("structure_score", "completeness"),
            en="Change the form of the prompt, such as prose into a list, and keep what it says.",
            zh="改变提示词的形式，例如把段落改成列表，内容保持不变。",
        ),
        Strategy(
            name="persona_adjust",
            risk="high",
            signals=("output_quality", "source_quality", "factual_accuracy", "efficiency"),
            en="Change who the prompt says the agent is, so that its strengths meet these "
            "failures. Leave everything else as it is.",
            zh="调整提示词对智能体身份的描述，使其长处针对这些失败。其余保持不变。",
        ),
    )
}


def select_strategies(names: tuple[str, ...], max_risk: Risk) -> tuple[Strategy, ...]:
    """Return the strategies with these names (none named: all), without those above `max_risk`."""
    for name in names:
        if name not in STRATEGIES:
            raise ConfigError(f"{name!r}: {suggest_known(name, STRATEGIES)}", field="strategies")
    if max_risk not in RISKS:
        raise ConfigError(f"{max_risk!r} is none of {', '.join(RISKS)}", field="max_risk")
    high = RISKS.index(max_risk)
    return tuple(
        one
        for one in STRATEGIES.values()
        if (not names or one.name in names) and RISKS.index(one.risk) <= high
    )


class Tally(msgspec.Struct, frozen=True, omit_defaults=True):
    """Counts for one strategy. `refused` tries are among the `tried` ones and never ran."""

    tried: int = 0
    accepted: int = 0
    refused: int = 0


class Try(NamedTuple):
    """One attempt at a mutation; `digest` is empty where there was no text."""

    strategy: str
    digest: str = ""
    accepted: bool = False
    refused: bool = False


class MutationRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """All tried mutations: `tallies` by strategy, and the `digests` of all texts."""

    tallies: dict[str, Tally] = msgspec.field(default_factory=dict)
    digests: frozenset[str] = frozenset()

    @classmethod
    def from_tries(cls, tries: Iterable["Try"]) -> "MutationRecord":
        """Return the record of these tries."""
        tallies: dict[str, Tally] = {}
        digests: set[str] = set()
        for one in tries:
            old = tallies.get(one.strategy, Tally())
            tallies[one.strategy] = Tally(
                old.tried + 1, old.accepted + one.accepted, old.refused + one.refused
            )
            digests.add(one.digest)
        return cls(tallies, frozenset(digests - {""}))

    def get_tally(self, strategy: str) -> Tally:
        """Return the counts of a strategy, all 0 where it was never tried."""
        return self.tallies.get(strategy, Tally())

    def has_text(self, text: str) -> bool:
        """Return whether a text was tried; the digest in a log is that of the unstripped text."""
        return digest_prompt(text) in self.digests or _digest(text) in self.digests

    def add_try(
        self, strategy: str, digest: str, *, accepted: bool = False, refused: bool = False
    ) -> "MutationRecord":
        """Return the record with one more try."""
        old = self.get_tally(strategy)
        new = Tally(old.tried + 1, old.accepted + accepted, old.refused + refused)
        known = self.digests | {digest} if digest else self.digests
        return MutationRecord({**self.tallies, strategy: new}, known)


def digest_prompt(text: str) -> str:
    """Return the digest of a prompt without trailing blanks and blank lines at both ends."""
    lines = "\n".join(line.rstrip() for line in text.strip().split("\n"))
    return _digest(lines)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


#: Tries without success after which a strategy is no longer preferred for its signal.
PATIENCE = 3


class Choice(NamedTuple):
    """A chosen strategy. `signal` is the weakest one, whether or not the strategy addresses it."""

    strategy: Strategy
    signal: str
    why: str


def choose_strategy(
    failures: Sequence[Failure], record: MutationRecord, rng: Random, among: Sequence[Strategy]
) -> Choice:
    """Choose one of the strategies `among`, which must not be empty."""
    found = find_weakest_signal(failures)
    if found is None:
        return Choice(
            draw_strategy(among, record, rng),
            "",
            "no signal was measured: drawn by acceptance rate",
        )
    signal, mean = found
    over = "1 failure" if len(failures) == 1 else f"{len(failures)} failures"
    why = f"{_shorten(signal)} is the weakest signal ({mean:.2f} over {over})"
    suited = [one for one in among if signal in one.signals]
    if not suited:
        return Choice(draw_strategy(among, record, rng), signal, f"{why}: drawn by acceptance rate")
    if all(_never_helped(one, record) for one in suited):
        others = [one for one in among if one not in suited] or suited
        why = f"{why}, but no strategy for it was ever accepted: drawn by acceptance rate"
        return Choice(draw_strategy(others, record, rng), signal, why)
    return Choice(draw_strategy(suited, record, rng), signal, why)


def draw_strategy(among: Sequence[Strategy], record: MutationRecord, rng: Random) -> Strategy:
    """Draw a strategy at random, weighted by (accepted + 1) / (tried + 2)."""
    shares = [acceptance_share(one.name, record) for one in among]
    return rng.choices(among, weights=shares)[0]


def acceptance_share(name: str, record: MutationRecord) -> float:
    tally = record.get_tally(name)
    return (tally.accepted + 1) / (tally.tried + 2)


def _never_helped(one: Strategy, record: MutationRecord) -> bool:
    tally = record.get_tally(one.name)
    return tally.tried >= PATIENCE and not tally.accepted


def _shorten(signal: str) -> str:
    """Return the name of a signal, which may come from anywhere, as one short line."""
    return "".join(c if c.isprintable() else " " for c in signal)[:60]
