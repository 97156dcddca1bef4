"""The eight kinds of mutation, how each has fared so far, and which one to try next.

A strategy addresses a signal when such a change can plausibly move it. Signals in none of the
lists, such as those of a rubric of one's own, are left to the strategy that has fared best.

Among several strategies the choice is random, weighted by how often each was accepted, starting
from one success and one failure. Once every strategy that addresses the weakest signal has had its
chances without being accepted, the others get theirs.
"""

import hashlib
from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple, get_args

import msgspec

from fourscore.core import ConfigError
from fourscore.core.errors import suggest_known
from fourscore.evolve.limits import Risk
from fourscore.evolve.mutations.failures import Failure, weakest

RISKS: tuple[Risk, ...] = get_args(Risk)


class Strategy(msgspec.Struct, frozen=True):
    """`en` and `zh` say what is done, to people and to a model alike."""

    name: str
    risk: Risk
    answers: tuple[str, ...]
    en: str
    zh: str


STRATEGIES = {
    one.name: one
    for one in (
        Strategy(
            "instruction_rephrase",
            "medium",
            ("output_quality", "tool_success_rate", "completeness", "factual_accuracy"),
            "Say the instructions that were misunderstood in clearer and more concrete words. "
            "Add no demand and drop none.",
            "用更清楚、更具体的话重述被误解的指令。不增加要求，也不删去要求。",
        ),
        Strategy(
            "step_reorder",
            "low",
            ("tool_efficiency", "tool_success_rate", "efficiency", "completeness"),
            "Put the steps into a better order. Keep the words of every step.",
            "调整步骤的顺序，每一步的文字保持不变。",
        ),
        Strategy(
            "constraint_add",
            "medium",
            (
                "factual_accuracy",
                "completeness",
                "citation_accuracy",
                "source_quality",
                "tool_efficiency",
                "error_rate",
                "output_quality",
            ),
            "Add one short constraint that would have prevented most of these failures. "
            "It has to hold for every task, not for these cases alone.",
            "增加一条简短的约束，能避免其中大多数失败。它必须适用于所有任务，而不只是这些例子。",
        ),
        Strategy(
            "constraint_remove",
            "high",
            ("efficiency", "tool_efficiency", "output_quality"),
            "Remove the one constraint that does more harm than good. Leave all else as it is.",
            "删去一条弊大于利的约束，其余保持不变。",
        ),
        Strategy(
            "example_inject",
            "medium",
            ("structure_score", "output_quality", "citation_accuracy", "tool_success_rate"),
            "Add one short example of a task done well. Make it up, or take it from the cases that "
            "went well; never from a failure.",
            "增加一个完成得好的简短示例。可以自拟，也可以取自成功的例子，但绝不能取自失败的例子。",
        ),
        Strategy(
            "emphasis_shift",
            "low",
            ("citation_accuracy", "source_quality", "error_rate", "factual_accuracy"),
            "Give more weight to the demand that was violated most: move it up, or mark it as "
            "important. Add no demand and drop none.",
            "突出最常被违反的要求：把它前移，或标明其重要。不增加要求，也不删去要求。",
        ),
        Strategy(
            "format_change",
            "low",
            ("structure_score", "completeness"),
            "Change the form of the prompt, such as prose into a list, and keep what it says.",
            "改变提示词的形式，例如把段落改成列表，内容保持不变。",
        ),
        Strategy(
            "persona_adjust",
            "high",
            ("output_quality", "source_quality", "factual_accuracy", "efficiency"),
            "Change who the prompt says the agent is, so that its strengths meet these failures. "
            "Leave everything else as it is.",
            "调整提示词对智能体身份的描述，使其长处针对这些失败。其余保持不变。",
        ),
    )
}


def allowed(names: tuple[str, ...], most: Risk) -> tuple[Strategy, ...]:
    """The strategies of these names, or all, up to a risk."""
    for name in names:
        if name not in STRATEGIES:
            raise ConfigError(f"{name!r}: {suggest_known(name, STRATEGIES)}", field="strategies")
    if most not in RISKS:
        raise ConfigError(f"{most!r} is none of {', '.join(RISKS)}", field="most_risk")
    high = RISKS.index(most)
    return tuple(
        one
        for one in STRATEGIES.values()
        if (not names or one.name in names) and RISKS.index(one.risk) <= high
    )


class Tally(msgspec.Struct, frozen=True, omit_defaults=True):
    """`refused` are those of the tried that never ran."""

    tried: int = 0
    accepted: int = 0
    refused: int = 0


class Try(NamedTuple):
    """One of them; `digest` is empty where there was no text."""

    strategy: str
    digest: str = ""
    accepted: bool = False
    refused: bool = False


class MutationRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """`tallies` by strategy, `digests` of every text that was tried."""

    tallies: dict[str, Tally] = msgspec.field(default_factory=dict)
    digests: frozenset[str] = frozenset()

    @classmethod
    def of_tries(cls, tries: Iterable["Try"]) -> "MutationRecord":
        """The record of many, such as a log has them."""
        tallies: dict[str, Tally] = {}
        digests: set[str] = set()
        for one in tries:
            old = tallies.get(one.strategy, Tally())
            tallies[one.strategy] = Tally(
                old.tried + 1, old.accepted + one.accepted, old.refused + one.refused
            )
            digests.add(one.digest)
        return cls(tallies, frozenset(digests - {""}))

    def of(self, strategy: str) -> Tally:
        return self.tallies.get(strategy, Tally())

    def knows(self, text: str) -> bool:
        """By the digest of the text as it is, too, which a log of versions has."""
        return text_digest(text) in self.digests or _digest(text) in self.digests

    def after(
        self, strategy: str, digest: str, *, accepted: bool = False, refused: bool = False
    ) -> "MutationRecord":
        """The record with one more try."""
        old = self.of(strategy)
        new = Tally(old.tried + 1, old.accepted + accepted, old.refused + refused)
        known = self.digests | {digest} if digest else self.digests
        return MutationRecord({**self.tallies, strategy: new}, known)


def text_digest(text: str) -> str:
    """A prompt's identity: blanks at the ends of lines, and of the text, change nothing."""
    lines = "\n".join(line.rstrip() for line in text.strip().split("\n"))
    return _digest(lines)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


#: Tries without success after which a strategy is no longer preferred for its signal.
PATIENCE = 3


class Choice(NamedTuple):
    """`signal` is the weakest one, whether or not the strategy answers it."""

    strategy: Strategy
    signal: str
    why: str


def choose(
    failures: Sequence[Failure], record: MutationRecord, rng: Random, among: Sequence[Strategy]
) -> Choice:
    """One of the strategies, of which there has to be one."""
    found = weakest(failures)
    if found is None:
        return Choice(roulette(among, record, rng), "", "no signal was measured: by their record")
    signal, mean = found
    over = "1 failure" if len(failures) == 1 else f"{len(failures)} failures"
    told = f"{_short(signal)} is the weakest signal ({mean:.2f} over {over})"
    answering = [one for one in among if signal in one.answers]
    if not answering:
        return Choice(roulette(among, record, rng), signal, f"{told}: by their record")
    if all(_given_up(one, record) for one in answering):
        others = [one for one in among if one not in answering] or answering
        why = f"{told}, and what answers it never helped: by their record"
        return Choice(roulette(others, record, rng), signal, why)
    return Choice(roulette(answering, record, rng), signal, told)


def roulette(among: Sequence[Strategy], record: MutationRecord, rng: Random) -> Strategy:
    """By (accepted + 1) / (tried + 2)."""
    shares = [share(one.name, record) for one in among]
    return rng.choices(among, weights=shares)[0]


def share(name: str, record: MutationRecord) -> float:
    tally = record.of(name)
    return (tally.accepted + 1) / (tally.tried + 2)


def _given_up(one: Strategy, record: MutationRecord) -> bool:
    tally = record.of(one.name)
    return tally.tried >= PATIENCE and not tally.accepted


def _short(signal: str) -> str:
    """A name that may come from anywhere, on one line."""
    return "".join(c if c.isprintable() else " " for c in signal)[:60]
