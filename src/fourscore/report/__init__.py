"""What people look at: terminal panels, HTML pages, JUnit, Markdown and CSV files."""
