"""What the reports read out of the warehouse, as frames and plain numbers."""
