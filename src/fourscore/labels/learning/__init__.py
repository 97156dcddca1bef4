"""Rubrics learned from labels: propose criteria, check them, revise them, keep those that help.

`fourscore.labels.learning.learn` is the way in. What is here: how samples are split (`parts`), what is
remembered of a run (`journal`), the questions to the model (`proposing`, `checking`), which
criteria are kept (`choosing`), the loop itself (`loop`), the test on labels that nothing has seen
(`report`), what it may cost (`plan`), and the file that comes of it (`artifact`).
"""
