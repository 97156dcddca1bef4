"""OpenTelemetry spans: bodies and files decoded into `Span`, and spans turned into a `Trace`.

`protobuf` and `documents` decode, `names` holds the conventions' words, `messages` reads what was
said, `conversion` makes the trace. Nothing here waits, stores or scores.
"""
