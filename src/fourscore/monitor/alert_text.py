"""The text of an alert: what is wrong, since when, with which confidence, and where to look.

Names and ids come with the traffic: untrusted text. Each sink passes a function `quote` that makes
such text safe in its own format.
"""

from collections.abc import Callable

from fourscore.monitor.alerts import Notice, format_time

Quote = Callable[[str], str]

#: Names of the drift aspects in a headline.
ASPECTS = {
    "score": "the distribution of scores",
    "length": "the length of outputs",
    "tool_errors": "the share of tool errors",
    "mix": "the mix of traffic",
}
#: Which test found an alarm, in words.
METHODS = {
    "sequence": "the whole confidence interval is past the threshold",
    "cusum": "more failures in a short time than chance explains (CUSUM)",
    "simple": "the pass rate of all samples, without a statistical test",
    "drift": "a window of samples that differs from the reference",
}


def headline(notice: Notice, quote: Quote = str) -> str:
    """Return the alert's title. For a failing judge it says that it is not about the agent."""
    return f"{quote(notice.monitor)}: {_subject(notice, quote)}"


def _subject(notice: Notice, quote: Quote) -> str:
    over, still = notice.state == "resolved", "still " if notice.repetition else ""
    if notice.kind == "judge":
        if over:
            return "the judge works again"
        return f"the judge is {still}failing ({notice.status}); this says nothing about the agent"
    if notice.kind == "drift":
        what = ASPECTS.get(notice.name, quote(notice.name))
        return f"{what} matches the reference again" if over else f"{what} has {still}drifted"
    what = "the pass rate"
    if notice.kind == "dimension":
        what = f"the pass rate of dimension {quote(notice.name)}"
    elif notice.kind == "tag":
        what = f"the pass rate of tag {quote(notice.name)}"
    if over and notice.status == "healthy":
        return f"{what} is healthy again"
    if over:
        return f"{what} is {notice.status}, no longer {notice.severity}"
    eased = ", no longer critical" if notice.before == "critical" else ""
    return f"{what} is {still}{notice.status}{eased}"


def facts(notice: Notice, quote: Quote = str) -> dict[str, str]:
    """Return the lines below the headline: label to text."""
    lines: dict[str, str] = {}
    if notice.kind == "drift":
        if notice.estimate is not None:
            lines["distance"] = f"{notice.estimate:.3f}, windows of {notice.n}"
        if notice.detail:
            lines["what"] = quote(notice.detail)
    elif notice.kind == "judge":
        lines["not measured"] = _format_rate(notice, inverted=True)
    else:
        lines["pass rate"] = _format_rate(notice)
        if notice.lately is not None:
            now = notice.lately
            ends = f"[{now.low:.1%}, {now.high:.1%}]"
            lines["by now"] = f"{now.pass_rate:.1%} {ends}, n={now.n}"
    lines["since"] = format_time(notice.since)
    if notice.state == "resolved":
        lines["over"] = format_time(notice.at)
        return lines
    lines["noticed"] = format_time(notice.at)
    lines["how sure"] = _format_confidence(notice)
    if notice.evidence:
        lines["evidence"] = ", ".join(map(quote, notice.evidence))
    return lines


def _format_rate(notice: Notice, *, inverted: bool = False) -> str:
    value, low, high = notice.estimate, notice.low, notice.high
    if value is None:
        return f"unknown, n={notice.n}"
    if inverted:
        value, low, high = 1 - value, None if high is None else 1 - high, _invert(low)
    ends = "" if low is None or high is None else f" [{low:.1%}, {high:.1%}]"
    return f"{value:.1%}{ends}, n={notice.n}"


def _invert(low: float | None) -> float | None:
    return None if low is None else 1 - low


def _format_confidence(notice: Notice) -> str:
    found = METHODS[notice.method]
    if notice.sure is None:
        return f"not stated: {found}"
    return f"{notice.sure:.2%} chance of no false alarm of this stream in a horizon; {found}"


#: Longer names and ids are cut to this many characters.
MAX_NAME = 80


def one_line(text: str, longest: int = MAX_NAME) -> str:
    """Return untrusted text on one line, cut to `longest`, with control characters escaped."""
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return cut if cut.isprintable() else repr(cut)[1:-1]
