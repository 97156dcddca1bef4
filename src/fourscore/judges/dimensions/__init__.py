"""The five dimensions of a research answer, judged by rules: no model, the same result every time.

Each judge reads a case and a trace and gives one signal: a value in [0, 1], its level, evidence in
the output, and a reason that says what is wrong and how sure the rules are. The judges that ask a
model (`fourscore.judges.llm`) have the same names and give the same signals.
"""
