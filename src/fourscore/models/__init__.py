"""Language models behind one small protocol: clients of endpoints, and wrappers around them.

A judge holds a `Model` and awaits `ask(Request) -> Response`; see `fourscore.models.messages`.
Clients (`openai`, `anthropic`) make exactly one call and report exactly what failed. Wrappers are
models themselves: `CachedModel`, `RetryingModel`, `ConcurrencyLimitedModel`, `HedgedModel`,
`BudgetedModel`, `MeteredModel`. `fourscore.models.model_spec.make_model` puts them around a client
in the right order.
"""
