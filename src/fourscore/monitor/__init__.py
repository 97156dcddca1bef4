"""Monitoring in production: live traffic sampled, scored with the rubric of the tests, and watched.

Applications call `monitor`; OpenTelemetry traces come in through `otel`. Either way a scored
interaction becomes one `sample`. `state` folds samples into the state of the service and finds
changes of status, without I/O; `delivery` sends the `alerts` of these to `sinks`.
"""
