"""Where does it run: executors own threads, processes and deadlines."""
