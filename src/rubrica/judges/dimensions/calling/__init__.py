"""What an agent did with its tools: calls made comparable, what failed, what was wasted."""
