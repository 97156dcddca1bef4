"""The sentences of an answer are the same with its marks as without them."""

import pytest

from rubrica.judges.citing.bared import hidden, parts_of, without
from rubrica.judges.citing.find import citations
from rubrica.judges.citing.references import reference_list
from rubrica.judges.text.sentences import sentences


@pytest.mark.parametrize(
    "text",
    [
        "It is long.[1] It cost much. [2][3] Nobody knows",
        "It is long.[1]It cost much",  # glued: the stop is seen only without the mark
        "Is it long?[1]Yes, it is.",
        "It is long [1]. It cost much [2], and that is all",
        "大桥全长九百米。[1]它花了很多钱。[2] 没有人知道[3]。",
        "## Cost\n- [1] It cost much.\n- It was long, too.[2]\n\n[1]\n[1][2]\n",
        "| a | b[1] |\n| 1 | 2 |\n",
        "It cost much, e.g.[1] The rest.",
        "It is long.[1]\n\n## Sources\n[1] https://example.org/a. Title\n[2] Another. Title",
        "He said so.\n```\nx[1] = 2. Y\n```\nThat is all.[1]",
        "As [a study](https://example.org/x.y) has it. So (Smith, 2020) said. Yes.[1]",
        "[1] opens it. And [2] this.",
        "",
    ],
)
def test_the_sentences_are_those_without_marks(text: str) -> None:
    found, listed = citations(text), reference_list(text)
    shown = hidden(text, listed)
    bare = without(shown, found, keep_words=False)
    named = any(one.form in ("author_year", "name") for one in found)
    expected = sentences(without(shown, found, keep_words=True) if named else bare)
    assert parts_of(text, bare, shown, found) == expected
