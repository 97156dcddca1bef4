"""Lists and sentences of a prompt."""

from tests.evolve.mutations.planted_failures import PARENT

from fourscore.evolve.mutations.prompt_text import outline, sentences


def test_lists_and_prose() -> None:
    found = outline(PARENT)
    assert [(run.kind, len(run.items)) for run in found.runs] == [("bullets", 3), ("numbered", 3)]
    prose = [found.lines[at] for at in found.prose]
    assert prose[0].startswith("You are")
    assert prose[-1] == "Question: {question}"


def test_items_keep_their_lines_and_lists_their_gaps() -> None:
    text = "1) a\n   more\n   - nested\n\n2) b\n\n\n3) c\nEnd."
    (run,) = outline(text).runs
    assert [item.lines for item in run.items] == [("a", "   more", "   - nested"), ("b",), ("c",)]
    turned = outline(text).rebuilt(run, [item.lines for item in reversed(run.items)])
    assert turned == [
        *("1) c", "", "2) b", "", "", "3) a"),
        *("   more", "   - nested", "End."),
    ]


def test_what_must_not_be_torn_apart_is_no_list() -> None:
    assert outline("- a\n  ```\n  code\n  ```\n- b\n- c").runs[0].items[0].lines == ("b",)
    assert outline("- a\n- b\n\n  more of b").runs == ()
    assert outline("- a\n- b goes\non here").runs == ()
    assert outline("```\n- a\n- b\n```\n* * *\n# - c\n| - d |\n~~~\n1. e").runs == ()
    assert outline("```\n- a\n- b\n```\n* * *\n# - c\n| - d |\n~~~\n1. e").prose == ()


def test_chinese_lists() -> None:
    (run,) = outline("1、先看\n2、再答").runs
    assert [run.marker(at) for at in range(3)] == ["1、", "2、", "3、"]


def test_numbers_that_are_all_the_same_stay_so() -> None:
    (run,) = outline("1. a\n1. b").runs
    assert run.marker(2) == "1. "


def test_sentences() -> None:
    line = "Be short. Use 3.5 cm, e.g. here. Is it so? Yes!"
    assert [line[a:b] for a, b in sentences(line)] == [
        *("Be short. ", "Use 3.5 cm, e.g. here. ", "Is it so? ", "Yes!")
    ]
    line = "要简短。不要猜测！可以吗？"
    assert [line[a:b] for a, b in sentences(line)] == ["要简短。", "不要猜测！", "可以吗？"]
