"""Monitoring in production: samples live traffic, scores it with a rubric, and raises alarms.

Applications call `monitor`; `otel` receives OpenTelemetry traces. In both cases a scored
interaction becomes one `sample`. `state` folds samples into the state of the service and finds
changes of status, without I/O. Each change is an alert, which `delivery` sends to the `sinks`.
"""
