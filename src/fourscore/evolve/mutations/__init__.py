"""Mutations of a prompt: which kind is tried, what writes it, and what is checked before it runs.

`strategies` has the eight kinds and chooses between them by their record, `failures` what a
mutation may know of the cases that failed. A proposer writes the text: `rule_proposer` by rules,
`model_proposer` by a model, `gepa` by the gepa package; `checks` must pass every text. Nothing here
runs an agent, decides, or stores versions.
"""
