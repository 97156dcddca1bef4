"""Events that a coding agent sends to its hooks. Imports nothing: `fourscore hook` must be fast.

Claude Code calls a hook with one JSON object: `hook_event_name`, `session_id`, `tool_name`,
`tool_input`, `tool_use_id`, and after the call `tool_response`, or `error` where it failed.
"""

BEFORE, AFTER, FAILED = "PreToolUse", "PostToolUse", "PostToolUseFailure"

#: Keys that may hold the exit code of a response.
CODES = ("exit_code", "exitCode", "returncode", "return_code", "code")
#: Characters kept of an error; of an output, this many from its start and from its end.
LONGEST, SHOWN = 300, 2000
#: Keys that hold the output of a run. Content read from a file is not output: it may quote errors.
RUN = ("stderr", "stdout", "output")


def read_event_outcome(event: "dict[str, object]") -> "tuple[int | None, str | None]":
    """Return the exit code and the error text of an event that follows a tool use."""
    error = event.get("error")
    if event.get("hook_event_name") == FAILED or error:
        words = error if isinstance(error, str) and error else "it failed"
        return _stated(words), words[:LONGEST]
    response = event.get("tool_response")
    if not isinstance(response, dict):
        return 0, None
    for key in CODES:
        code = response.get(key)
        if isinstance(code, int) and not isinstance(code, bool):
            return code, _words(response) if code else None
    bad = response.get("is_error") is True or response.get("isError") is True
    bad = bad or response.get("success") is False or response.get("interrupted") is True
    if bad or (isinstance(response.get("error"), str) and response["error"]):
        return None, _words(response)
    return 0, None


def read_event_output(event: "dict[str, object]") -> str:
    """Return the tool's output, cut in the middle where it is long."""
    response = event.get("tool_response")
    parts: list[object] = [response]
    if isinstance(response, dict):
        parts = [response.get(key) for key in RUN]
    elif isinstance(response, list):
        parts = [part.get("text") for part in response[:50] if isinstance(part, dict)]
    texts = [part.strip() for part in parts if isinstance(part, str)]
    text = "\n".join(part for part in texts if part)
    return text if len(text) <= 2 * SHOWN else f"{text[:SHOWN]}\n...\n{text[-SHOWN:]}"


def _stated(words: str) -> "int | None":
    """Return the code of an error text that begins with `Exit code 2`."""
    head, _, rest = words[:40].partition("xit code ")
    digits = rest.split()[0].rstrip(".:,") if rest.split() else ""
    return int(digits) if head in ("E", "e") and digits.isdecimal() and digits != "0" else None


def _words(response: "dict[str, object]") -> str:
    for key in ("error", "stderr", "message", "stdout", "content"):
        text = response.get(key)
        if isinstance(text, str) and text.strip():
            return text.strip()[:LONGEST]
    return "it was interrupted" if response.get("interrupted") is True else "it did not succeed"
