"""Learn rubrics from labelled samples: propose criteria, check them, revise them, keep what helps.

`learn` is the entry. `data_split` splits the samples, `journal` stores findings, `proposer` and
`checker` ask the model, `choose_criteria` decides which criteria stay, `held_out_report` tests them
on unseen labels, `cost_plan` bounds the cost, `learned_rubric` writes the file.
"""
