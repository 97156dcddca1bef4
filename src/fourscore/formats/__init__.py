"""What did they write: files and rows of others, turned into cases and traces."""
