"""An alert in words: what is wrong, since when, how sure that is, and where to look.

Names and ids come with the traffic. Each sink says by `quote` how foreign text stands in its own.
"""

from collections.abc import Callable

from fourscore.monitor.alerts import Notice, moment

Quote = Callable[[str], str]

#: What drift is about.
ASPECTS = {
    "score": "the distribution of scores",
    "length": "the length of outputs",
    "tool_errors": "the share of tool errors",
    "mix": "the mix of traffic",
}
FOUND = {
    "sequence": "the whole interval is past the threshold",
    "cusum": "a run of failures that is too long for chance",
    "simple": "the rate of all samples, without regard to chance",
    "drift": "a window of samples that differs from the reference",
}


def headline(notice: Notice, quote: Quote = str) -> str:
    """One line. A broken judge is not a broken agent, and says so."""
    return f"{quote(notice.monitor)}: {_subject(notice, quote)}"


def _subject(notice: Notice, quote: Quote) -> str:
    over, still = notice.state == "resolved", "still " if notice.repetition else ""
    if notice.kind == "judge":
        if over:
            return "the judge measures again"
        return f"the judge is {still}failing ({notice.status}); this says nothing of the agent"
    if notice.kind == "drift":
        what = ASPECTS.get(notice.name, quote(notice.name))
        return f"{what} is as in the reference again" if over else f"{what} has {still}drifted"
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
    """What stands below the headline, by label."""
    told: dict[str, str] = {}
    if notice.kind == "drift":
        if notice.estimate is not None:
            told["distance"] = f"{notice.estimate:.3f}, windows of {notice.n}"
        if notice.detail:
            told["what"] = quote(notice.detail)
    elif notice.kind == "judge":
        told["not measured"] = _share(notice, flipped=True)
    else:
        told["pass rate"] = _share(notice)
        if notice.lately is not None:
            now = notice.lately
            ends = f"[{now.low:.1%}, {now.high:.1%}]"
            told["by now"] = f"{now.pass_rate:.1%} {ends}, n={now.n}"
    told["since"] = moment(notice.since)
    if notice.state == "resolved":
        told["over"] = moment(notice.at)
        return told
    told["noticed"] = moment(notice.at)
    told["how sure"] = _sure(notice)
    if notice.evidence:
        told["evidence"] = ", ".join(map(quote, notice.evidence))
    return told


def _share(notice: Notice, *, flipped: bool = False) -> str:
    value, low, high = notice.estimate, notice.low, notice.high
    if value is None:
        return f"unknown, n={notice.n}"
    if flipped:
        value, low, high = 1 - value, None if high is None else 1 - high, _less(low)
    ends = "" if low is None or high is None else f" [{low:.1%}, {high:.1%}]"
    return f"{value:.1%}{ends}, n={notice.n}"


def _less(low: float | None) -> float | None:
    return None if low is None else 1 - low


def _sure(notice: Notice) -> str:
    found = FOUND[notice.method]
    if notice.sure is None:
        return f"not stated: {found}"
    return f"{notice.sure:.2%}, a good service's chance of a horizon without this alarm; {found}"


#: Characters of a name or an id that are shown.
LONGEST = 80


def one_line(text: str, longest: int = LONGEST) -> str:
    """No control characters, no lines of its own, no end of what stands around it."""
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return cut if cut.isprintable() else repr(cut)[1:-1]
