"""Principal components: how they are fitted, what a fitted model knows, and what it says of rows."""
