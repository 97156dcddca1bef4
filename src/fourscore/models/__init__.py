"""Language models behind one small protocol: clients of endpoints, and wrappers around them.

A judge holds a `Model` and awaits `ask(Request) -> Response`; see `fourscore.models.messages`.
Clients (`openai`, `anthropic`) make exactly one call and report exactly what failed. Everything else
is a wrapper around a model that is itself a model: `RetryingModel`, `ConcurrencyLimitedModel`, `HedgedModel`, `BudgetedModel`,
`MeteredModel`, `CachedModel`. `fourscore.models.model_spec.make_model` puts them together in the order that holds.
"""
