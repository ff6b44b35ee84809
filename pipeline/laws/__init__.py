"""Energy laws as pure functions of plain numbers; nothing here imports anything of the project."""
