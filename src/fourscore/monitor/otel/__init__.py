"""OpenTelemetry traces: spans received or read from a file, assembled, sampled and scored."""
