"""The command line. Every command parses its arguments, calls the library, and prints."""
