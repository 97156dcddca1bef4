"""What a person sees of an evolution."""
