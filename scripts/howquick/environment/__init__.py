"""What is installed: manifest, declarations and versions of programs under test, what their logs cost."""
