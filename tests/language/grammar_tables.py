"""Write the tables that are shipped, after a change of the grammar: ``make tables``."""

from pathlib import Path

from webhook.language.grammar import build_parser, grammar_text
from webhook.language.tables import FILE, pack

PATH = Path(__file__).parents[2] / "webhook" / "language" / FILE


def main() -> None:
    """One file, the same for the same grammar."""
    PATH.write_bytes(pack(build_parser(), grammar_text()))
    print(f"{PATH.name}: {PATH.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
