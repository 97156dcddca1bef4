"""The check `sql`: does the answer parse as SQL? It is parsed in a process that can be killed.

sqlglot tries one reading after another where words are ambiguous, so five hundred characters can
take it hours.
"""

import logging
from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

from fourscore.core import Case, ConfigError, Signal, Trace
from fourscore.core.extras import require_extra
from fourscore.executors.portal import PORTAL, require_loop
from fourscore.executors.worker_pool import WorkerPool, WorkerTimeout
from fourscore.judges.checks.check import Check, shorten
from fourscore.judges.checks.documents import DocumentError, Found, read_document

#: Most characters of a statement that is parsed, and most seconds that it may take.
MAX_SQL, SECONDS = 20_000, 5.0
#: Seconds that an answer waits for a worker.
_PATIENCE = 3600.0


class Sql(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer is SQL that parses; nothing is run. Needs the extra `checks`.

    dialect: the dialect, such as `postgres`, `sqlite`, `mysql`, `bigquery`; default: any SQL
    find: `any` (default) takes the last fenced block, else the whole answer; `whole`; `fenced`

    Example: {sql: postgres}
    """

    name: ClassVar[str] = "sql"
    main: ClassVar[str] = "dialect"
    dialect: str | None = None
    find: Found = "any"

    def __post_init__(self) -> None:
        require_extra("checks", "the check sql")
        if self.dialect is not None:
            from sqlglot.dialects.dialect import Dialect

            try:
                Dialect.get_or_raise(self.dialect)
            except ValueError as error:
                raise ConfigError(str(error), field="dialect") from None

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        try:
            text = read_document(trace, "sql", self.find, MAX_SQL)
        except DocumentError as why:
            return (self.decide(False, str(why)),)
        require_loop()
        try:
            count, reason = await _workers().run(parse_sql, text, self.dialect, deadline=SECONDS)
        except WorkerTimeout as error:
            if not error.has_run:
                raise
            return (self.decide(False, f"it could not be parsed within {SECONDS:g} s"),)
        if reason:
            return (self.decide(False, f"not SQL: {shorten(reason)[1:-1]}"),)
        return (self.decide(True, f"{count} SQL statement{'s'[: count > 1]}"),)

    def measure(self, case: Case, trace: Trace) -> Signal:
        (signal,) = PORTAL.finish(lambda: self.judge(case, trace))
        return signal


@cache
def _workers() -> WorkerPool:
    """Return the processes that parse; the first starts when it is needed."""
    return WorkerPool(2, warm=["sqlglot"], template=True, patience=_PATIENCE)


def parse_sql(text: str, dialect: str | None) -> tuple[int, str]:
    """Return the number of statements, and why the text is no SQL or ""."""
    import sqlglot

    # Its remarks on unknown statements quote the answer.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    try:
        statements = [one for one in sqlglot.parse(text, dialect=dialect) if one]
    except RecursionError:
        return 0, "nested too deeply"
    except sqlglot.errors.SqlglotError as error:
        first = (getattr(error, "errors", None) or [{}])[0]
        return 0, str(first.get("description") or type(error).__name__)
    if not statements or not all(map(_is_statement, statements)):
        return 0, "no statement that reads or changes a table"
    return len(statements), ""


def _is_statement(tree: Any) -> bool:
    """Whether a parsed tree is a statement: sqlglot reads nearly all words as some command."""
    from sqlglot import exp

    if isinstance(tree, exp.Select):
        return bool(tree.expressions)
    if isinstance(tree, exp.Delete):
        return " from " in f" {tree.sql().lower()} "
    known = (exp.Query, exp.DML, exp.DDL, exp.Drop, exp.Alter, exp.TruncateTable, exp.Transaction)
    return isinstance(tree, (*known, exp.Commit, exp.Rollback))
