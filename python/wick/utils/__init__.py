"""What is neither operators nor layers."""
