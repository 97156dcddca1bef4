"""Statistics: intervals, tests and summaries, each with its n."""
