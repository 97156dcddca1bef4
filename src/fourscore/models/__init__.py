"""Who is asked: language models behind one small protocol, and what stands around them.

A judge holds a `Model` and awaits `ask(Ask) -> Reply`; see `fourscore.models.messages`. Clients
(`openai`, `anthropic`) make exactly one call and say exactly what went wrong. Everything else is a
wrapper around a model that is itself a model: `Retrying`, `Limited`, `Hedged`, `Budgeted`,
`Metered`, `Cached`. `fourscore.models.spec.model_of` puts them together in the order that holds.
"""
