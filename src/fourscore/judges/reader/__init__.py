"""Reads English and Chinese text, and estimates by learned weights whether it supports a claim."""
