"""What a search hands over, in memory and in files."""
