"""A number of the report back to its raw rows, prices and coefficients, with the arithmetic."""
