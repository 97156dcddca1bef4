"""The same interactions are drawn in every process, at the given rate."""

import subprocess
import sys

import pytest

from fourscore.core import ConfigError
from fourscore.monitor.sampling import Sampling, digest, make_ceiling
from fourscore.monitor.settings import SamplingSettings

IDS = [f"request-{n}" for n in range(20_000)]


def test_every_process_samples_the_same_ids() -> None:
    script = """
from fourscore.monitor.sampling import Sampling
taken = Sampling(0.01)
print(*[n for n in range(2000) if taken.draws(f"request-{n}", ())])
"""
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    here = [n for n in range(2000) if Sampling(0.01).draws(f"request-{n}", ())]
    assert [int(word) for word in printed.split()] == here
    assert digest("request-1").hex() == "fa817c4d2a037864"  # on every machine, in every version


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.3, 1.0])
def test_sampled_share_matches_the_rate(rate: float) -> None:
    taken = sum(Sampling(rate).draws(one, ()) for one in IDS)
    assert abs(taken - rate * len(IDS)) <= 4 * (len(IDS) * rate * (1 - rate)) ** 0.5
    sampling = Sampling(rate, SamplingSettings(seed=1))
    drawn = sum(sampling.draws(None, ()) for _ in IDS)
    assert abs(drawn - rate * len(IDS)) <= 4 * (len(IDS) * rate * (1 - rate)) ** 0.5


def test_ids_of_a_low_rate_are_part_of_a_higher_one() -> None:
    low = {one for one in IDS if Sampling(0.01).draws(one, ())}
    assert low < {one for one in IDS if Sampling(0.05).draws(one, ())}
    assert make_ceiling(0) == bytes(8)
    assert digest("\ud800") != digest("?")


def test_method_random_and_missing_ids_use_the_generator() -> None:
    def drawn(sampling: Sampling) -> list[str]:
        return [one for one in IDS[:500] if sampling.draws(one, ())]

    first = drawn(Sampling(0.1, SamplingSettings(method="random", seed=3)))
    assert first == drawn(Sampling(0.1, SamplingSettings(method="random", seed=3)))
    assert first != drawn(Sampling(0.1, SamplingSettings(method="random", seed=4)))
    assert first != drawn(Sampling(0.1))


def test_tags_may_have_their_own_rates() -> None:
    sampling = Sampling(0.01, SamplingSettings(rates={"rare": 0.5, "noisy": 0.001}))
    assert sampling.rate_of(()) == sampling.rate_of(("other",)) == 0.01
    assert sampling.rate_of(("noisy",)) == 0.001
    assert sampling.rate_of(("noisy", "rare")) == 0.5
    assert sampling.highest == 0.5
    rare = sum(sampling.draws(one, ("rare",)) for one in IDS)
    assert abs(rare - 10_000) < 300


def test_invalid_settings_are_refused() -> None:
    for rate in (-0.1, 1.1, float("nan"), "1%", None):
        with pytest.raises(ConfigError, match=r"sample_rate: .*: expected a number from 0 to 1"):
            Sampling(rate)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"rates\.rare: 2: expected a number"):
        Sampling(0.01, SamplingSettings(rates={"rare": 2}))
    with pytest.raises(ConfigError, match="expected hash or random"):
        Sampling(0.01, SamplingSettings(method="dice"))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"always: 'error': no such rule; did you mean errors\?"):
        Sampling(0.01, SamplingSettings(always=["error"]))


def test_always_rules_are_read() -> None:
    def long(_: object) -> bool:
        return True

    assert Sampling(0.01).wants_errors
    assert Sampling(0.01).wants_thumbs_down
    none = Sampling(0.01, SamplingSettings(always=()))
    assert (none.wants_errors, none.wants_thumbs_down, none.rules) == (False, False, ())
    own = Sampling(0.01, SamplingSettings(always=["errors", long]))
    assert (own.wants_errors, own.wants_thumbs_down, own.rules) == (True, False, (long,))
    assert Sampling(0.01, SamplingSettings(always="errors")).wants_errors
