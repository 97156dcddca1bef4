"""The files of `fourscore demo`: cases, a small research assistant, and the pages it searches."""
