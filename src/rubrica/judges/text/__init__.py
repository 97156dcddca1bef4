"""What can be read off a text by rules, in English and Chinese: sentences, words, quantities,
negation, and whether one text supports or contradicts a statement.

Values that are made and kept by the thousand are structs with `gc=False`: none of them can be part
of a cycle, and the collector took a tenth of the judges' time to find that out.
"""
