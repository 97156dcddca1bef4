"""The reward server: an ASGI app over the training phase, and the process that serves it.

`app` answers requests, `judging` keeps judges away from the event loop, `shapes` are the bodies
that trainers send, `openapi` describes all of it from the same types, `running` is the process.
"""
