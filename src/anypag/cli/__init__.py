"""The command line. Every command does three things: read what was asked, call the library, print."""
