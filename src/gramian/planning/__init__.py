"""What will be done, why, and at what price; and what the machine offers."""
