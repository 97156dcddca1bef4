"""One small reader of English and Chinese text, and a learned model of "this text supports it"."""
