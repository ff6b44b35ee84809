"""One module a section: a pure function from the rows of a mart to what the report says of them."""
