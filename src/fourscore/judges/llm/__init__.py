"""Judges that ask a model: what they ask, how what an agent wrote is kept from answering itself,
and what a verdict has to be.

A judge asks one question with few possible answers at a time, and evidence before the verdict.
Whatever others wrote (the question, the answer, sources, tool results) stands inside fences that
the writer cannot close; the verdict carries the fence's number and quotes words that are there.
"""
