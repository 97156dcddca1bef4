"""The real reward manager of verl, configured as its documentation says, with the math judge.

Not collected by pytest. verl itself is installed without its GPU dependencies.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found]
import verl  # type: ignore[import-not-found]
from omegaconf import OmegaConf  # type: ignore[import-not-found]
from tensordict import TensorDict  # type: ignore[import-not-found]
from verl.trainer.ppo.metric_utils import (  # type: ignore[import-not-found]
    process_validation_metrics,
)
from verl.trainer.ppo.reward import load_reward_manager  # type: ignore[import-not-found]

BY_FILE = """\
from fourscore.integrations.verl import Scorer

scorer = Scorer("math", on_error="zero")
compute_score = scorer.compute_score
compute_score_async = scorer.compute_score_async
"""


class CharTokenizer:
    """As much of a tokenizer as the reward manager uses."""

    def decode(self, ids: Any, skip_special_tokens: bool = True) -> str:
        return "".join(chr(i) for i in ids.tolist())


def sample(answer: str, ground_truth: Any) -> Any:
    """One row as the agent loop gives it (`AgentLoopWorker._compute_score`, verl 0.9.1)."""
    ids = torch.tensor([[ord(char) for char in answer]])
    batch = TensorDict(
        {"prompts": ids[:, :0], "responses": ids, "attention_mask": torch.ones_like(ids)},
        batch_size=1,
    )
    extra = {"index": np.int64(7), "question": "1 + 1?", "nums": np.array([1, 1])}
    columns = {
        "data_source": np.array(["gsm8k"], dtype=object),
        "reward_model": np.array([{"ground_truth": ground_truth}], dtype=object),
        "extra_info": np.array([extra], dtype=object),
        "__num_turns__": np.array([2]),
    }
    return verl.DataProto(batch=batch, non_tensor_batch=columns)


async def run(custom: dict[str, Any]) -> list[dict[str, Any]]:
    config = OmegaConf.create(
        {
            "reward": {
                "custom_reward_function": custom,
                "reward_manager": {"source": "register", "name": "naive"},
            }
        }
    )
    manager = load_reward_manager(config, CharTokenizer())
    samples = [sample(r"\boxed{2}", "2"), sample(r"\boxed{3}", "2"), sample(r"\boxed{2}", None)]
    return [await manager.run_single(data) for data in samples]


def check(results: list[dict[str, Any]]) -> None:
    assert [result["reward_score"] for result in results] == [1.0, 0.0, 0.0]
    infos = [result["reward_extra_info"] for result in results]
    assert len({tuple(info) for info in infos}) == 1, "the keys must not change"
    assert [info["fourscore_judged"] for info in infos] == [1.0, 1.0, 0.0]
    # what the trainer does with them: RewardLoopManager.compute_rm_score, then validation
    columns = {key: np.array([info[key] for info in infos]).tolist() for key in infos[0]}
    metrics = process_validation_metrics(["gsm8k"] * 3, ["a", "a", "a"], columns)["gsm8k"]
    assert metrics["fourscore_signal_math"]["mean@2"] == 0.5, "two were measured, one of them right"
    assert metrics["fourscore_judged"]["mean@3"] == 2 / 3


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "reward.py")
        path.write_text(BY_FILE)
        kwargs = {"judge": "math", "options": {"box": "last"}, "on_error": "zero"}
        package = "pkg://fourscore.integrations.verl"
        for name in ("compute_score", "compute_score_async"):
            check(asyncio.run(run({"path": str(path), "name": name})))
            check(asyncio.run(run({"path": package, "name": name, "reward_kwargs": kwargs})))
    done = "naive reward manager: file and package, plain and async"
    print(json.dumps({"run": done, "verl": verl.__version__, "torch": torch.__version__}))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
