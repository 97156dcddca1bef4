"""How sure are we: intervals and tests, each with its n."""
