"""What `fourscore demo` shows: a test set, a small research assistant, and the pages it can find."""
