"""Judge claims with a small model on this machine, through ONNX Runtime (extra `local`).

A dimension with `by: local` holds only the model's name. `open_local_model` reports a mistake in it
when the judge is made; `judge_claims_locally` returns what `reader.support` returns:

    model = open_local_model("models/nli")
    verdicts = judge_claims_locally(model, claims, read_text(output), question)

Both block, so such a judge runs in a thread.
"""

from fourscore.judges.local.model import LocalModel, open_local_model
from fourscore.judges.local.support import judge_claims_locally, judge_topics_locally

__all__ = ["LocalModel", "judge_claims_locally", "judge_topics_locally", "open_local_model"]
