"""The test phase: run an agent over a test set, score it, and compare runs."""
