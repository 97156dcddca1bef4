"""The real single-turn executor of OpenRLHF with our `reward_func`, up to its Experience.

Not collected by pytest. OpenRLHF is installed without its GPU dependencies; ray and vllm stand
empty, as in its own tests.
"""

import asyncio
import importlib.metadata
import importlib.util
import json
import logging
import math
import sys
import tempfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import torch  # type: ignore[import-not-found]

FILE = """\
from fourscore.integrations.openrlhf import RewardFunc

reward_func = RewardFunc("math", on_error={word!r})
"""
PROMPT = r"Put 1 + 1 in a box, like \boxed{2}: "


def load(path: str) -> ModuleType:
    """A module of OpenRLHF by its file: its packages import what needs a GPU."""
    root = Path(str(importlib.metadata.distribution("openrlhf").locate_file("openrlhf")))
    spec = importlib.util.spec_from_file_location(Path(path).stem, root / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class CharTokenizer:
    def __call__(self, text: str, **_: Any) -> dict[str, Any]:
        return {"input_ids": torch.tensor([[ord(char) for char in text]])}

    def decode(self, ids: list[int], skip_special_tokens: bool = False) -> str:
        return "".join(map(chr, ids))


class Engine:
    def __init__(self, answer: str) -> None:
        self.answer = answer

    async def generate(self, *_: Any, **__: Any) -> Any:
        ids = [ord(char) for char in self.answer]
        output = SimpleNamespace(token_ids=ids, finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])


def experience(agent: Any, samples: Any, file: Path, answer: str, label: Any) -> Any:
    executor = agent.SingleTurnAgentExecutor([str(file)])
    params = SimpleNamespace(max_tokens=64, logprobs=None)
    response = asyncio.run(
        executor.execute(PROMPT, label, params, 256, CharTokenizer(), Engine(answer))
    )
    generator = samples.SamplesGenerator.__new__(samples.SamplesGenerator)
    return generator._process_response_into_experience(response, max_len=256)


def main() -> int:
    sys.modules["openrlhf"] = ModuleType("openrlhf")
    for name in ("openrlhf.utils", "openrlhf.trainer", "openrlhf.trainer.ppo_utils"):
        sys.modules[name] = ModuleType(name)
    logs = SimpleNamespace(init_logger=logging.getLogger)
    sys.modules["openrlhf.utils.logging_utils"] = logs  # type: ignore[assignment]
    for name in ("ray", "vllm", "openrlhf.trainer.ray", "openrlhf.trainer.ray.vllm_engine"):
        sys.modules[name] = MagicMock()
    sys.modules["openrlhf.utils.utils"] = MagicMock()
    sys.modules["openrlhf.trainer.ppo_utils.experience"] = load("trainer/ppo_utils/experience.py")
    agent, samples = load("utils/agent.py"), load("trainer/ppo_utils/samples_generator.py")
    with tempfile.TemporaryDirectory() as folder:
        rewards: dict[str, list[Any]] = {}
        for word in ("raise", "zero", "none"):
            file = Path(folder, f"{word}.py")
            file.write_text(FILE.format(word=word))
            cases = ((r"\boxed{2}", "2"), ("two", "2"), (r"\boxed{2}", ""))
            made = [experience(agent, samples, file, *case) for case in cases]
            rewards[word] = [None if exp.rewards is None else exp.rewards.item() for exp in made]
            assert made[0].rewards.shape == (1,), "one number a sample, not a list of lists"
            keys = [{key for key in exp.info if key.startswith("fourscore")} for exp in made]
            assert (
                keys[0]
                == keys[1]
                == {"fourscore_judged", "fourscore_passed", "fourscore_signal_math"}
            )
            assert made[2].info.get("fourscore_judged", torch.tensor([math.nan])).item() != 1.0
    assert rewards["raise"] == [1.0, 0.0, None]
    assert rewards["zero"] == [1.0, 0.0, 0.0]
    assert rewards["none"][:2] == [1.0, 0.0]
    assert math.isnan(rewards["none"][2])
    version = importlib.metadata.version("openrlhf")
    done = "single-turn executor to Experience: raise, zero, none"
    print(json.dumps({"run": done, "openrlhf": version, "torch": torch.__version__}))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
