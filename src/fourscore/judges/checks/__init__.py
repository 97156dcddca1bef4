"""Plain checks of an answer or a run: exact text, a number, JSON, length, cost and others.

    >>> from fourscore import Case, Trace
    >>> from fourscore.judges.checks.text import Contains
    >>> Contains(text="Rome").measure(Case(input="Capital?"), Trace(output="It is Rome.")).passed
    True

Each check is one class with its options as fields, and none of them asks a model. A check is a
judge like any other; a case may have checks of its own (`case_checks.py`).
"""

from collections.abc import Mapping

#: The plain checks, by name.
CHECKS: Mapping[str, str] = {
    "bleu": "fourscore.judges.checks.similarity->Bleu",
    "choice": "fourscore.judges.checks.choice->Choice",
    "chrf": "fourscore.judges.checks.similarity->Chrf",
    "contains": "fourscore.judges.checks.text->Contains",
    "cost": "fourscore.judges.checks.run_facts->CostCheck",
    "edit_similarity": "fourscore.judges.checks.similarity->EditSimilarity",
    "embedding_similarity": "fourscore.judges.checks.similarity->EmbeddingSimilarity",
    "equals_ignoring": "fourscore.judges.checks.text->EqualsIgnoring",
    "exact": "fourscore.judges.checks.text->Exact",
    "exact_match": "fourscore.judges.checks.similarity->ExactMatch",
    "f1": "fourscore.judges.checks.similarity->F1",
    "json": "fourscore.judges.checks.json_check->Json",
    "language": "fourscore.judges.checks.language->Language",
    "latency": "fourscore.judges.checks.run_facts->Latency",
    "length": "fourscore.judges.checks.language->Length",
    "markdown_table": "fourscore.judges.checks.structure->MarkdownTable",
    "no_errors": "fourscore.judges.checks.run_facts->NoErrors",
    "number": "fourscore.judges.checks.number->Number",
    "one_of": "fourscore.judges.checks.text->OneOf",
    "regex": "fourscore.judges.checks.text->Regex",
    "rouge": "fourscore.judges.checks.similarity->Rouge",
    "sql": "fourscore.judges.checks.sql->Sql",
    "starts_with": "fourscore.judges.checks.text->StartsWith",
    "steps": "fourscore.judges.checks.run_facts->Steps",
    "tokens": "fourscore.judges.checks.run_facts->Tokens",
    "xml": "fourscore.judges.checks.structure->Xml",
    "yaml": "fourscore.judges.checks.structure->Yaml",
}
