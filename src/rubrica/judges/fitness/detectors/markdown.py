"""What a markdown parser finds in an output: fenced blocks, headers, list items, tables."""

from collections import Counter
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

#: Characters of an output that are parsed; a document shows its form long before that.
READ = 50_000
_LISTS = ("bullet_list_open", "ordered_list_open")


class Document(NamedTuple):
    """The blocks of an output.

    A fence has the language that it names, in lower case, and the code; `prose` is all that stands
    outside of fences; `bullets` and `numbers` count the items of the outermost lists.
    """

    fences: tuple[tuple[str, str], ...]
    prose: str
    headers: int
    lists: int
    bullets: int
    numbers: int
    tables: int


def has_code_block(output: str) -> bool:
    """Whether there is a fenced block, closed or not, in a list or a quotation too."""
    return ("```" in output or "~~~" in output) and bool(read_markdown(output).fences)


def read_markdown(output: str) -> Document:
    """Parse the first `READ` characters of an output."""
    return _read(output[:READ])


@lru_cache(maxsize=16)  # several detectors read the same output, one after the other
def _read(text: str) -> Document:
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as the parser counts lines
    fences: list[tuple[str, str]] = []
    fenced_lines: set[int] = set()
    kinds: Counter[str] = Counter()
    items: Counter[str] = Counter()
    outermost = ""
    for token in _parser().parse(text):
        kinds[token.type] += 1
        if token.type == "fence" and token.map is not None:
            name = (token.info.split() or [""])[0].strip("{}.").lower()
            fences.append((name, token.content))
            fenced_lines.update(range(*token.map))
        elif token.type in _LISTS and token.level == 0:
            outermost = token.type
        elif token.type == "list_item_open" and token.level == 1:
            items[outermost] += 1
    lines = enumerate(text.split("\n"))
    return Document(
        fences=tuple(fences),
        prose="\n".join(line for at, line in lines if at not in fenced_lines) if fences else text,
        headers=kinds["heading_open"],
        lists=sum(kinds[kind] for kind in _LISTS),
        bullets=items["bullet_list_open"],
        numbers=items["ordered_list_open"],
        tables=kinds["table_open"],
    )


@cache
def _parser() -> "MarkdownIt":
    """Blocks only: what stands inside of a line does not matter here, and costs the most."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser
