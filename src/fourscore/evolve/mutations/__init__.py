"""Mutations of a prompt: which kind is tried, what writes it, and what is checked before it runs.

`strategies` has the eight kinds of mutation and chooses one by their acceptance so far, `failures`
has what a mutation may know about failed cases. A proposer writes the text: `rule_proposer` by
rules, `model_proposer` by a model, `gepa` by the gepa package. Every text must pass `checks`.
Nothing here runs an agent, decides, or stores versions.
"""
