"""What a question asks for, and where an answer says something of substance about it.

`question` cuts a question into parts, `aspects` says by which words a part is known, `concepts`
which other words speak of it, and `kinship` which are near to it. `passages` reads the answer,
`emptiness` and `novelty` tell what says nothing, `units` finds what it is built of, and `aligning`
which unit is about which aspect.
"""
