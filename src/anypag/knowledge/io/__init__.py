"""Knowledge as text, as JSON, and in the files of other tools."""
