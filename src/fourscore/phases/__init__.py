"""When, and on which traces: training, and later tests, production and evolution."""
