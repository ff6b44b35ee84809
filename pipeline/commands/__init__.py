"""The commands, a module each: options in, one call, words or JSON out."""
