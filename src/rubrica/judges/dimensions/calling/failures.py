"""Whether a tool call failed, and by whose fault; whether it found nothing."""

import re
from typing import Any, Literal

from rubrica.core import ToolCall
from rubrica.judges.dimensions.calling.natures import finds, listed
from rubrica.judges.dimensions.calling.plain import DEEP, LONG, encode, even

#: Characters of an error, or of a result that may be one.
HEAD = 500
#: Entries of a result that are looked at.
ENTRIES = 50

#: `transient` may pass by itself, a `mistake` is the caller's, `refused` is any other no.
Failure = Literal["", "transient", "mistake", "refused"]

_ERROR = re.compile(
    r"[\s\[<(*#]{0,8}(?:"
    r"(?:an?\s)?(?:fatal\s)?error(?!s?\s(?:rate|log|count|margin|budget|code|handling|bar|report))"
    r"(?:\b(?=\s*[:：\-!.\]\d]|$)|\s(?:occurred|executing|calling|while|in\s|during|from|when))"
    r"|traceback \(most|exception\b\s*[:：]|[a-z_.]{1,60}(?:error|exception)\s*[:：(]"
    r"|failed to\s|failure\s*[:：]|fatal\s*[:：]|http (?:error )?[45]\d\d"
    r"|[45]\d\d (?:error|bad|not|un|internal|forbidden|too|service|gateway)"
    r"|错误(?!率|日志|数|统计|次数|报告|码表)|报错|出错|异常\s*[:：]|失败\s*[:：]|(?:调用|执行|请求|操作)(?:失败|出错|异常))",
    re.IGNORECASE,
)
_MISTAKE_CODE = re.compile(r"\b4(?:00|22)\b")
_TRANSIENT_CODE = re.compile(r"\b(?:408|429|50[0234])\b")
_NOTHING = re.compile(
    r"\s{0,8}(?:no (?:results?|matches|match|hits|records?|documents?|data)\b|nothing found|"
    r"0 (?:results|hits|matches)|not found|none\b|"
    r"没有(?:找到|结果|相关)|未找到|未查到|无结果|暂无|无匹配)",
    re.IGNORECASE,
)


def failure_of(said: str | None) -> Failure:
    """Whose fault an error is that says this; None is no error."""
    if said is None:
        return ""
    text = said[:HEAD].lower()
    if _MISTAKE_CODE.search(text):
        return "mistake"
    if _TRANSIENT_CODE.search(text) or any(word in text for word in listed("transient")):
        return "transient"
    return "mistake" if any(word in text for word in listed("mistakes")) else "refused"


def error_text(call: ToolCall) -> str | None:
    """What the error says, or None where there is none."""
    if call.error:
        return call.error
    result = _opened(call.result)
    said = _error(result)
    if said is None and call.exit_code and not _findings(call):
        return result if isinstance(result, str) else f"exit code {call.exit_code}"
    return said


def error_in(result: Any) -> str | None:
    """The same of a result alone."""
    return _error(_opened(result))


def _opened(result: Any) -> Any:
    """JSON written as text is read where it may tell of an error."""
    if not isinstance(result, str) or result[:1] != "{" or len(result) > LONG:
        return result
    return even(result) if _MARKED.search(result[:HEAD]) else result


def _error(result: Any) -> str | None:
    if isinstance(result, str):
        return result if _ERROR.match(result[:HEAD]) else None
    return _error_field(result) if isinstance(result, dict) else None


def _findings(call: ToolCall) -> bool:
    """Tests that fail and a grep without a match ran as they should; 126 and up did not run."""
    code = call.exit_code or 0
    return (bool(call.result) or code == 1) and code < 126 and finds(call.name, call.arguments)


_MARKED = re.compile(r'"(?:errors?|is_?error|success|ok|status|错误|成功)"\s*:', re.IGNORECASE)
_NO = ("false", "error", "fail", "failure")


def _error_field(result: dict[str, Any]) -> str | None:
    for key in ("error", "errors", "错误", "异常", "error_message", "报错"):
        said = result.get(key)
        if said and said != "none":
            return said if isinstance(said, str) else encode(said)[:HEAD].decode("utf-8", "ignore")
    for key in ("success", "ok", "成功", "succeeded"):
        if result.get(key) is False:
            return _message(result)
    if result.get("isError") is True or result.get("is_error") is True:
        return _message(result)
    if str(result.get("status")).lower() in _NO and len(result) <= 3:
        return _message(result)
    return None


def _message(result: dict[str, Any]) -> str:
    parts = (result.get(key) for key in ("message", "reason", "msg", "detail", "content", "原因"))
    return " ".join(part[:HEAD] for part in parts if isinstance(part, str)) or "it did not succeed"


def is_empty(result: Any, depth: int = 0) -> bool:
    """Whether a search gave nothing: `[]`, `{"hits": 0}`, `no results`."""
    if isinstance(result, str):
        return not result.strip() or bool(_NOTHING.match(result[:HEAD]))
    if isinstance(result, dict):
        held = [v for k, v in result.items() if k not in ("query", "page", "q", "关键词", "页")]
        return depth < DEEP and all(is_empty(item, depth + 1) for item in held[:ENTRIES])
    return not result
