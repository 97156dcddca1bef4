"""What a text shows by its wording and to parsers, evaluating nothing and in linear time."""
