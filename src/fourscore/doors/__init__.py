"""Who asks: the command line, configuration files, and later servers, pages and plugins."""
