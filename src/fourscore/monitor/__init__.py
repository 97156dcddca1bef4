"""Monitoring in production: live traffic sampled, scored with the rubric of the tests, and watched.

`monitor` is the way in for applications, `receiving` and `assembly` for traces. Either way a scored
interaction is one `sample`; `judgement` folds samples into what is known of the service and says
when a status changes, with no input or output of its own, and `alerts` tells people.
"""
