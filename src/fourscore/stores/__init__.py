"""Stores for runs (`sqlite`) and monitors (`monitor`): SQLite files that survive `kill -9`."""
