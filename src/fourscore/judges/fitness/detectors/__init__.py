"""Detect answers, explanations, code and markdown by wording and parsers, in linear time."""
