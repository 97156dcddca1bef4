"""Judges that ask a chat model.

A judge asks one question with few possible answers at a time (`model_judge`). Untrusted text (the
question, the answer, sources, tool results) is inside fences that its writer cannot close
(`injection_defences`). A verdict repeats the fence's check number and quotes words that are in the
text (`verdicts`, `quotations`), or is one word with its probability (`logprobs`).
"""
