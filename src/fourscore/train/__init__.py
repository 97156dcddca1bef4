"""The training phase: rewards for the outputs of a trainer."""
