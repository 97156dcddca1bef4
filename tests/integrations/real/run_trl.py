"""One real GRPO step of TRL, a tiny model with random weights rewarded by the math judge.

Not collected by pytest: `make test-trainers` runs it where torch and trl are installed. The
vocabulary has whole boxed answers as tokens, so that chance finds right and wrong ones.
"""

import json
import pickle
import sys
import tempfile
import time
from collections import Counter, defaultdict
from typing import Any

import torch  # type: ignore[import-not-found]
import transformers  # type: ignore[import-not-found]
import trl  # type: ignore[import-not-found]
from datasets import Dataset  # type: ignore[import-not-found]
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from fourscore.integrations.trl import AsyncReward, Reward

WORDS = ["<pad>", "<eos>", "<unk>", "What", "is", "1", "2", "+", "?", "so", "it", "user", "bot"]
BOXES = [rf"\boxed{{{n}}}" for n in (1, 2)]
GENERATIONS = 16


def tokenizer_of() -> Any:
    vocabulary = {word: index for index, word in enumerate([*WORDS, *BOXES])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(r"\s+"), "removed")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )
    tokenizer.padding_side = "left"
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m['role'] }} {{ m['content'] }} {% endfor %}"
        "{% if add_generation_prompt %}bot {% endif %}"
    )
    return tokenizer


def model_of(tokenizer: Any) -> Any:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    return transformers.LlamaForCausalLM(config)


def prompt(text: str, chat: bool) -> Any:
    return [{"role": "user", "content": text}] if chat else text


def one_step(reward: Any, chat: bool) -> dict[str, Any]:
    """Two tasks, one of them without a reference: what reached the trainer, and what it did."""
    tokenizer = tokenizer_of()
    model = model_of(tokenizer)
    before = [weight.detach().clone() for weight in model.parameters()]
    rows = [
        {"prompt": prompt("What is 1 + 1 ?", chat), "answer": "2", "task_id": "known"},
        {"prompt": prompt("What is 1 + 2 ?", chat), "answer": None, "task_id": "unknown"},
    ]
    with tempfile.TemporaryDirectory() as folder:
        trainer = trl.GRPOTrainer(
            model=model,
            reward_funcs=[reward],
            args=trl.GRPOConfig(
                output_dir=folder,
                per_device_train_batch_size=2 * GENERATIONS,
                num_generations=GENERATIONS,
                max_completion_length=4,
                max_steps=1,
                learning_rate=1e-2,
                logging_steps=1,
                report_to=[],
                use_cpu=True,
                bf16=False,
                save_strategy="no",
                disable_tqdm=True,
                seed=1,
            ),
            train_dataset=Dataset.from_list(rows),
            processing_class=tokenizer,
        )
        started = time.perf_counter()
        trainer.train()
        seconds = time.perf_counter() - started
    logged = next(line for line in trainer.state.log_history if "reward" in line)
    rewards = list(trainer._logs["rewards"][reward.__name__])
    extra = defaultdict(list, {key: list(of) for key, of in trainer._logs["extra"].items()})
    moved = sum(
        not torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True)
    )
    return {
        "seconds": round(seconds, 2),
        "rewards": rewards,
        "advantages": list(trainer._logs["advantages"]),
        "tasks": extra["math/fourscore_status"],
        "logged": {key: logged[key] for key in logged if "fourscore" in key or "reward" in key},
        "weights_moved": f"{moved} of {len(before)}",
    }


def check(result: dict[str, Any]) -> None:
    statuses = result["tasks"]
    pairs = list(zip(statuses, result["rewards"], result["advantages"], strict=True))
    scored = [reward for status, reward, _ in pairs if status == "scored"]
    lost = [(reward, gain) for status, reward, gain in pairs if status == "judge_error"]
    assert len(scored) == len(lost) == GENERATIONS, statuses
    assert set(scored) == {0.0, 1.0}, "chance should find right and wrong answers"
    assert all(reward != reward and gain == 0.0 for reward, gain in lost), "NaN, no advantage"
    assert not result["weights_moved"].startswith("0 "), "the step changed nothing"
    assert result["logged"]["math/fourscore_judged"] == 0.5
    assert abs(result["logged"]["rewards/math/mean"] - sum(scored) / len(scored)) < 1e-6


def main() -> int:
    reward = pickle.loads(pickle.dumps(Reward("math")))
    versions = {kind.__name__: kind.__version__ for kind in (torch, transformers, trl)}
    for name, kind, chat in (("sync", reward, False), ("async", AsyncReward(reward), True)):
        result = one_step(kind, chat)
        check(result)
        counts = Counter("none" if reward != reward else reward for reward in result["rewards"])
        result = {**result, "rewards": counts}
        del result["tasks"], result["advantages"]
        print(json.dumps({"run": f"one GRPO step, {name}", **versions, **result}))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
