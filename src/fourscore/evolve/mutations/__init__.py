"""Mutations of a prompt: which kind is tried, who writes it, and what is checked before it runs.

`failure` is what a mutation may know of a case that failed, `strategies` the eight kinds,
`choosing` which of them is next, `record` how they have fared. A proposer makes the text:
`operators` by rules, `written` by a model, `gepa_proposer` by the gepa package. `checks` stands
between every one of them and the agent. Nothing here runs an agent, decides, or keeps versions.
"""
