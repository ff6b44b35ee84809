"""What only the company knows: contracts, bills, names, teams, quality, budgets."""
