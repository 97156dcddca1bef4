"""Traces from OpenTelemetry: received or read from a file, put together, sampled and scored."""
