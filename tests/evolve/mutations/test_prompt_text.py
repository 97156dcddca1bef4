"""Lists and sentences of a prompt."""

from tests.evolve.mutations.planted_failures import PARENT

from fourscore.evolve.mutations.prompt_text import parse_outline, split_sentences


def test_outline_finds_lists_and_prose() -> None:
    found = parse_outline(PARENT)
    assert [(list_.kind, len(list_.items)) for list_ in found.lists] == [
        ("bullets", 3),
        ("numbered", 3),
    ]
    prose = [found.lines[at] for at in found.prose]
    assert prose[0].startswith("You are")
    assert prose[-1] == "Question: {question}"


def test_replacing_items_keeps_lines_and_gaps() -> None:
    text = "1) a\n   more\n   - nested\n\n2) b\n\n\n3) c\nEnd."
    (list_,) = parse_outline(text).lists
    assert [item.lines for item in list_.items] == [("a", "   more", "   - nested"), ("b",), ("c",)]
    turned = parse_outline(text).replace_list(list_, [item.lines for item in reversed(list_.items)])
    assert turned == [
        *("1) c", "", "2) b", "", "", "3) a"),
        *("   more", "   - nested", "End."),
    ]


def test_skips_lists_with_fences_or_loose_paragraphs() -> None:
    assert parse_outline("- a\n  ```\n  code\n  ```\n- b\n- c").lists[0].items[0].lines == ("b",)
    assert parse_outline("- a\n- b\n\n  more of b").lists == ()
    assert parse_outline("- a\n- b goes\non here").lists == ()
    assert parse_outline("```\n- a\n- b\n```\n* * *\n# - c\n| - d |\n~~~\n1. e").lists == ()
    assert parse_outline("```\n- a\n- b\n```\n* * *\n# - c\n| - d |\n~~~\n1. e").prose == ()


def test_outline_finds_chinese_lists() -> None:
    (list_,) = parse_outline("1、先看\n2、再答").lists
    assert [list_.marker(at) for at in range(3)] == ["1、", "2、", "3、"]


def test_keeps_repeated_item_numbers() -> None:
    (list_,) = parse_outline("1. a\n1. b").lists
    assert list_.marker(2) == "1. "


def test_splits_sentences() -> None:
    line = "Be short. Use 3.5 cm, e.g. here. Is it so? Yes!"
    assert [line[a:b] for a, b in split_sentences(line)] == [
        *("Be short. ", "Use 3.5 cm, e.g. here. ", "Is it so? ", "Yes!")
    ]
    line = "要简短。不要猜测！可以吗？"
    assert [line[a:b] for a, b in split_sentences(line)] == ["要简短。", "不要猜测！", "可以吗？"]
