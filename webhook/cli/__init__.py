"""The command line: one file a command.

A command reads its arguments, calls the library, prints, and ends with an exit code that has a
name. Data goes to standard output, talk to standard error.
"""
