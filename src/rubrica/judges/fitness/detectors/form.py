"""Whether an output keeps the form that its request asks for."""

from typing import NamedTuple

from rubrica.judges.fitness.detectors.demands import demands


class Form(NamedTuple):
    """`kept` is None where the request does not speak of the form."""

    kept: bool | None
    reason: str


def follows_format(output: str, request: str = "") -> bool:
    """Whether every demand on the form is kept; a request without one is."""
    return form(output, request).kept is not False


def form(output: str, request: str) -> Form:
    """Which demand on the form is broken, if any."""
    found = demands(request) if request.strip() else []
    if not found:
        return Form(None, "the request names no form")
    for demand in found:
        if not demand.kept(output):
            return Form(False, f"asked for: {demand.name}")
    return Form(True, "; ".join(demand.name for demand in found))
