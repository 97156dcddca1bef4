"""What operators do with a monitor, apart from the commands that do it."""
