"""Checks of structure: xml, yaml, markdown_table."""

from typing import ClassVar

from fourscore.core import Case, ConfigError, Signal, Trace
from fourscore.judges.checks.check import Check, read_answer, shorten
from fourscore.judges.checks.documents import DocumentError, Found, read_document

#: Most characters of a YAML document: the parser takes about a second for as many.
MAX_YAML = 50_000


class Xml(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer is well-formed XML. Document types and entities are refused.

    root: the name that the root element must have
    find: `any` (default) takes the last fenced block, else the whole answer; `whole`; `fenced`

    Example: {xml: invoice}
    """

    name: ClassVar[str] = "xml"
    main: ClassVar[str] = "root"
    root: str | None = None
    find: Found = "any"

    def measure(self, case: Case, trace: Trace) -> Signal:
        try:
            root = find_xml_root(read_document(trace, "xml", self.find))
        except DocumentError as why:
            return self.decide(False, str(why))
        if self.root is not None and root != self.root:
            return self.decide(False, f"the root is {shorten(root)}, expected {shorten(self.root)}")
        return self.decide(True, "well-formed XML")


def find_xml_root(text: str) -> str:
    """Return the name of the root element; raise `DocumentError` if the text is not well-formed."""
    from xml.parsers import expat

    names: list[str] = []
    parser = expat.ParserCreate("utf-8")  # the text is decoded: its declaration means nothing

    def refuse(*_: object) -> None:
        raise DocumentError("a document type is not allowed")

    def start(name: str, _: object) -> None:
        if not names:
            names.append(name)

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = start
    try:
        parser.Parse(text.encode(errors="replace"), True)
    except expat.ExpatError as error:
        raise DocumentError(f"not XML: {error}") from None
    return names[0]


class Yaml(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer is a YAML mapping or list.

    find: `any` (default) takes the last fenced block, else the whole answer; `whole`; `fenced`

    Example: {yaml: true}
    """

    name: ClassVar[str] = "yaml"
    find: Found = "any"

    def measure(self, case: Case, trace: Trace) -> Signal:
        from fourscore.formats.yaml_file import parse_yaml

        try:
            value = parse_yaml(read_document(trace, "yaml", self.find, MAX_YAML), "").value
        except DocumentError as why:
            return self.decide(False, str(why))
        except ConfigError as error:
            return self.decide(False, f"not YAML: {error.message.removeprefix('not YAML: ')}")
        passed = isinstance(value, dict | list)
        return self.decide(passed, "YAML" if passed else "plain text, no mapping or list")


class MarkdownTable(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer has a Markdown table with these columns and rows.

    columns: the names that the header must have, in any order; or the number of columns
    min_rows: the least number of rows below the header (1)

    Example: {markdown_table: [Name, Price], min_rows: 3}
    """

    name: ClassVar[str] = "markdown_table"
    main: ClassVar[str] = "columns"
    columns: tuple[str, ...] | int | None = None
    min_rows: int = 1
    _MAX: ClassVar[int] = 200_000

    def measure(self, case: Case, trace: Trace) -> Signal:
        tables = list_tables(read_answer(trace)[: self._MAX])
        if not tables:
            return self.decide(False, "the answer has no Markdown table")
        reasons = [self._explain(header, rows) for header, rows in tables]
        if None in reasons:
            return self.decide(True, "the table fits")
        return self.decide(False, str(reasons[0]))

    def _explain(self, header: list[str], rows: int) -> str | None:
        """Return why a table does not fit; None if it does."""
        if isinstance(self.columns, int):
            if len(header) != self.columns:
                return f"the table has {len(header)} columns, expected {self.columns}"
        else:
            present = {one.casefold() for one in header}
            for column in self.columns or ():
                if column.strip().casefold() not in present:
                    return f"the table has no column {shorten(column)}"
        if rows < self.min_rows:
            return f"the table has {rows} rows, expected at least {self.min_rows}"
        return None


def list_tables(text: str) -> list[tuple[list[str], int]]:
    """Return the header and the number of rows of each Markdown table."""
    from markdown_it import MarkdownIt

    tables: list[tuple[list[str], int]] = []
    header, rows, in_header = list[str](), 0, False
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "thead_open":
            header, rows, in_header = [], 0, True
        elif token.type == "thead_close":
            in_header = False
        elif token.type == "inline" and in_header:
            header.append(token.content.strip().strip("*_` "))
        elif token.type == "tr_open" and not in_header:
            rows += 1
        elif token.type == "table_close":
            tables.append((header, rows))
    return tables
