"""What a text shows, by rules and parsers: no model, the same answer every time.

`answer` looks at wording, `markdown` and `syntax` ask parsers, `format` compares with what the
request asks for. Nothing here is evaluated and no text takes more than linear time; what cannot be
read within its limits is not judged. `quality.py` beside this package has the public functions.
"""
