"""Which array library and device, which precision, and seeded draws that are equal everywhere."""
