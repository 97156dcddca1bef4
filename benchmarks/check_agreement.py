"""The likeness checks beside the packages that define them, on texts that nobody here wrote.

    python benchmarks/check_agreement.py --data FOLDER

FOLDER holds JSONL files with `output` and `claims` or `answers`. F1 and exact match are compared
with SQuAD's evaluation as `transformers` 4 ships it, ROUGE with `rouge-score`; both have to be
installed beside. BLEU and chrF are sacrebleu's own code. Texts in Chinese are counted apart: the
packages see no words in them.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from rouge_score.rouge_scorer import RougeScorer
from transformers.data.metrics.squad_metrics import (  # type: ignore[import-not-found]
    compute_exact,
)
from transformers.data.metrics.squad_metrics import (
    compute_f1 as squad_f1,
)

from fourscore.judges.checks.similarity import (
    compute_f1,
    compute_rouge,
    normalize_squad,
    split_rouge,
    split_squad,
)

KINDS = ("rouge1", "rouge2", "rougeL")


def read_pairs(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each output with each text that it is compared with."""
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            for text in [*row.get("claims", ()), *row.get("answers", ())]:
                text = text["text"] if isinstance(text, dict) else text
                if isinstance(text, str) and row.get("output"):
                    yield row["output"], text


def is_chinese(text: str) -> bool:
    return any("\u3400" <= character <= "\u9fff" for character in text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    pairs = list(read_pairs(parser.parse_args().data))
    scorer = RougeScorer(list(KINDS))
    for name, chosen in (
        ("without Chinese", [pair for pair in pairs if not is_chinese("".join(pair))]),
        ("with Chinese", [pair for pair in pairs if is_chinese("".join(pair))]),
    ):
        different: dict[str, list[tuple[str, str]]] = {}
        for output, text in chosen:
            theirs = {kind: found.fmeasure for kind, found in scorer.score(text, output).items()}
            theirs |= {"f1": squad_f1(text, output), "exact_match": compute_exact(text, output)}
            ours = {
                kind: compute_rouge(split_rouge(output), split_rouge(text), kind) for kind in KINDS
            }
            ours["f1"] = compute_f1(split_squad(output), split_squad(text))
            ours["exact_match"] = float(normalize_squad(output) == normalize_squad(text))
            for check, value in ours.items():
                if abs(value - theirs[check]) > 1e-9:
                    different.setdefault(check, []).append((output, text))
        print(f"{name}: {len(chosen)} pairs")
        for check in (*KINDS, "f1", "exact_match"):
            found = different.get(check, [])
            print(f"  {check:12} {len(chosen) - len(found)} equal, {len(found)} different")
            for output, text in found[:3]:
                print(f"      {output[:70]!r} / {text[:70]!r}")


if __name__ == "__main__":
    main()
