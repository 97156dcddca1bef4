"""OpenTelemetry spans: bodies and files decoded into `Span`, and spans turned into a `Trace`.

`http_body`, `protobuf` and `json_spans` decode, `semantic_conventions` has the attribute names,
`messages` reads the messages in a span, `trace` makes the trace. Nothing here does I/O or scores.
"""
