"""What a question asks for, and where an answer says something of substance about it.

`question` cuts a question into parts, `aspects` says by which words a part is known, `concepts`
which other words speak of it, `passages` reads the answer, `emptiness` tells what says nothing, and
`matching` brings the two together.
"""
