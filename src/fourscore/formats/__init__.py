"""Readers for case files, logs, traces, rubrics and labels, and writers for cases."""
