"""``tidegate version``: what is installed, in the form we ask for in bug reports."""

import platform

import click

from webhook import __version__


@click.command()
def command() -> None:
    """Print the version of Tidegate and of Python."""
    click.echo(f"tidegate {__version__} (Python {platform.python_version()})")
