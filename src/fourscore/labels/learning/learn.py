"""Rubrics from labels: `learn` takes labelled samples and gives a rubric, or says that it has none.

    async with ModelPool(budget=Budget(calls=3000)):
        document = await learn(samples, Learning(model="openai:gpt-4o-mini"))

The document is that of a rubric file; `document["learned"]` tells how it came about. The steps
stand in `fourscore.labels.learning`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from fourscore.core import Usage
from fourscore.formats.labelled_samples import SampleFile
from fourscore.labels.learning.checker import SINGLE, Checker
from fourscore.labels.learning.choose_criteria import Candidate, Choice
from fourscore.labels.learning.cost_plan import BudgetCheck, plan_of
from fourscore.labels.learning.data_split import FEWEST, Parts, parts_of
from fourscore.labels.learning.held_out_report import join_criteria, report_rankings, report_scores
from fourscore.labels.learning.journal import Journal, make_key
from fourscore.labels.learning.learned_rubric import Themes, make_dimensions, make_rubric_document
from fourscore.labels.learning.loop import Found, Loop
from fourscore.labels.learning.settings import Learning
from fourscore.models.messages import ModelError
from fourscore.models.model_pool import current_pool
from fourscore.stats.regression import LinearFit

#: Under which a journal has the document of a run that is over.
DONE = "done"
LEARNED, NOTHING = "learned", "nothing was learned"
Tell = Callable[[str], None]
Observe = Callable[[], None]


async def learn(
    samples: SampleFile,
    settings: Learning,
    journal: Journal | None = None,
    *,
    tell: Tell = lambda _: None,
    observe: Observe = lambda: None,
) -> dict[str, Any]:
    """The document of the rubric. `tell` hears of rounds, `observe` is called for each verdict.

    A model that fails, or a budget that ends during the report, is raised; with the same journal
    the run goes on where it was. One that has come to its report is over: more rounds after it
    would be chosen by the labels that were held out.
    """
    book = journal or Journal(None, settings.fingerprint(samples.digest))
    if DONE in book:
        return dict(book.get(DONE))
    document = await _learned(samples, settings, book, tell, observe)
    book.put(DONE, "done", document, Usage())
    return document


async def _learned(
    samples: SampleFile, settings: Learning, book: Journal, tell: Tell, observe: Observe
) -> dict[str, Any]:
    parts = parts_of(samples, settings.seed)
    if len(samples) < FEWEST:
        why = f"{len(samples)} samples are too few to show anything: at least {FEWEST} are needed"
        return _document(samples, settings, parts, book, _nothing(why), None, (), {"why": why})
    plan = plan_of(samples, parts, settings)
    checker = Checker(samples, settings, book, observe)
    loop = Loop(samples, settings, parts, book, checker, tell)
    price = current_pool().find_price(settings.pool_model.name)
    found = await loop.run(plan, BudgetCheck(current_pool().budget, plan, price))
    if not found.rounds:
        message = f"{found.stopped}: it takes about {plan.round_calls + plan.report_calls(1)} calls"
        raise ModelError("budget", message, usage=Usage())
    if not found.choice.chosen:
        why = "no criterion raised agreement with the labels"
        return _document(samples, settings, parts, book, found, None, (), {"why": why})
    figures = await _report(samples, settings, parts, checker, found.choice)
    if not figures["learned_something"]:
        return _document(samples, settings, parts, book, found, None, (), figures)
    themes = await _themes(settings, loop, found.choice, book)
    return _document(samples, settings, parts, book, found, found.choice, themes, figures)


async def _report(
    samples: SampleFile, settings: Learning, parts: Parts, checker: Checker, choice: Choice
) -> dict[str, Any]:
    if settings.mode == "listwise":
        text = join_criteria(by_weight(choice).chosen, settings.language)
        return await report_rankings(samples, parts, checker, text)
    return await report_scores(samples, parts, checker, choice, settings.threshold)


async def _themes(settings: Learning, loop: Loop, choice: Choice, journal: Journal) -> Themes:
    if settings.categories is None or len(choice.chosen) < 2:
        return ()
    texts = [one.text for one in choice.chosen]
    key = make_key("themes", texts, settings.categories)
    if key not in journal:
        try:
            value, usage = await loop.proposer.themes(texts, settings.categories)
        except ModelError as error:
            if error.kind not in SINGLE:
                raise
            value, usage = [], error.usage or Usage(calls=1)
        journal.put(key, "themes", value, usage)
    return [(name, list(members)) for name, members in journal.get(key)]


def by_weight(choice: Choice) -> Choice:
    """The same with the weightiest criterion first."""
    order = sorted(range(len(choice.chosen)), key=lambda at: -choice.fit.weights[at])
    fit = LinearFit(choice.fit.floor, tuple(choice.fit.weights[at] for at in order))
    return choice._replace(chosen=tuple(choice.chosen[at] for at in order), fit=fit)


def _nothing(why: str) -> Found:
    return Found(Choice((), LinearFit(0.0, ()), 0.0, 0), (), 0, why)


def _document(
    samples: SampleFile,
    settings: Learning,
    parts: Parts,
    journal: Journal,
    found: Found,
    choice: Choice | None,
    themes: Themes,
    figures: dict[str, Any],
) -> dict[str, Any]:
    kept: tuple[Candidate, ...] = () if choice is not None else found.choice.chosen
    if choice is not None and settings.mode == "listwise":
        choice = by_weight(choice)
    learned: dict[str, Any] = {
        "outcome": NOTHING if choice is None else LEARNED,
        "why": figures["why"],
        "mode": settings.mode,
        "model": settings.pool_model.name,
        "language": settings.language,
        "scale": list(settings.bounds),
        "seed": settings.seed,
        "data": {
            "file": Path(samples.path).name,
            "digest": samples.digest,
            "samples": len(samples),
            "repeated": samples.repeated,
            "parts": parts.sizes(),
        },
        "prompts": settings.prompts(),
        "rounds": found.rounds,
        "stopped": found.stopped,
        "agreement_on_selection": {
            "value": round(found.choice.agreement, 4),
            "n": found.choice.n,
        },
        "figures": {key: value for key, value in figures.items() if key != "why"},
        "cost": msgspec.to_builtins(journal.usage),
        "fingerprint": settings.fingerprint(samples.digest),
    }
    if choice is not None and settings.mode == "listwise":
        learned["criteria"] = [one._asdict() for one in choice.chosen]
    if kept:
        learned["unproven"] = [one._asdict() for one in kept]
    if found.rejected:
        learned["rejected"] = list(found.rejected)
    return make_rubric_document(settings, make_dimensions(settings, choice, themes), learned)
