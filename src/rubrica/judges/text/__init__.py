"""What can be read off a text by rules, in English and Chinese: sentences, words, quantities,
negation, and whether one text supports or contradicts a statement.
"""
