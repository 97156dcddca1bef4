"""The reward server: rewards and trace ingestion over HTTP.

`app` is the ASGI app, `reward_routes` has the bodies that trainers send, `monitor_routes` receives
traces, `judge_runner` keeps judges away from the event loop, `openapi` describes the routes from
their types, and `serve` runs the app with uvicorn.
"""
