"""The five dimensions of a research answer, judged by rules: no model, the same answer every time.

Each judge reads a case and a trace and gives one signal: a value in [0, 1], the level it amounts
to, evidence in the output, and a reason that says what to mend and how sure the rules are. The
judges that ask a model bear the same names and give the same signals.
"""
