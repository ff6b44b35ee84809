"""Usage logs in: recognise each file by its content, set bad rows aside, lose none."""
