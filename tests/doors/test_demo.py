"""`rubrica demo`: a tour that needs no key and counts what it shows."""

import json
from typing import Any

from rubrica.doors.cli import main


def test_the_table_shows_every_kind_of_outcome(capsys: Any) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    for word in ("task", "reward", "apples", "1.00 ✓", "0.10 ✗", "0.00 ✗", "–"):
        assert word in shown
    assert "it is not a 0" in shown


def test_json_is_one_document_that_adds_up(capsys: Any) -> None:
    assert main(["demo", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    rewards = document["rewards"]
    assert document["planned"] == sum(document["statuses"].values()) == len(rewards)
    assert document["statuses"]["scored"] == sum(r["raw_reward"] is not None for r in rewards)
    for reward in rewards:
        scored = reward["status"] == "scored"
        assert (reward["raw_reward"] is not None) == (reward["is_success"] is not None) == scored
    assert {0.0, 0.1, 1.0} <= {reward["raw_reward"] for reward in rewards}


def test_the_table_and_the_document_agree(capsys: Any) -> None:
    main(["demo", "--json"])
    statuses = json.loads(capsys.readouterr().out)["statuses"]
    main(["demo"])
    parts = " + ".join(f"{n} {status}" for status, n in sorted(statuses.items()))
    assert f"{sum(statuses.values())} planned = {parts}" in capsys.readouterr().out
