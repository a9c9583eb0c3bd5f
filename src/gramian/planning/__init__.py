"""What will be done, why, and at what price in time and memory, decided before any work."""
