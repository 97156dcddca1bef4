"""Where is it kept: runs, traces, scores and labels, in one SQLite file that survives `kill -9`."""
