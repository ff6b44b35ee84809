"""The laws held against measured energy: fits, errors, bias, ranges by joint draws."""
