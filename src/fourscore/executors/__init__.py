"""Where judges run: inline, in threads or in processes that can be killed, with deadlines."""
