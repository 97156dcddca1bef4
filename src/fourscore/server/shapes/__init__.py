"""The bodies that trainers send, and the replies that they expect. One module for each."""
