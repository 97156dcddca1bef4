"""Evolution: decide between two versions of a prompt, with a history that can be rolled back.

Scores are on a scale from 0 to 100 here. `decision.py` decides, `limits.py` says when to mutate,
`rollback.py` when to roll back, `folder.py` stores versions and decisions in a readable folder,
`loop.py` runs generations, `hook.py` records the tool uses of a coding agent.
"""
