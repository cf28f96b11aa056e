"""The grammar itself: no conflict, no two terminals for one text where both may stand."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from webhook.language.grammar import Lines, build_parser, grammar_text, parse_tree
from webhook.language.tables import load


def test_the_grammar_has_no_conflicts_and_no_collisions() -> None:
    build_parser(strict=True)  # raises for both


def test_positions_are_those_of_the_file() -> None:
    (tree,) = parse_tree("priority a 1\n", offset=100).children
    assert (tree.meta.start_pos, tree.meta.end_pos) == (100, 112)  # type: ignore[union-attr]


def test_threads_do_not_share_positions() -> None:
    def start(offset: int) -> int:
        (tree,) = parse_tree("priority a 1\n", offset=offset).children
        return tree.meta.start_pos  # type: ignore[union-attr]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(start, range(0, 400, 2))) == list(range(0, 400, 2))


def test_the_tables_that_are_shipped_are_those_of_the_grammar() -> None:
    """Out of date they only cost time: `make tables` writes them anew."""
    loaded = load(grammar_text(), Lines())
    assert loaded is not None
    built = build_parser()
    policies = Path(__file__).parents[2] / "policies"
    for path in policies.rglob("*.tide"):
        text = path.read_text(encoding="utf-8")
        assert loaded.parse(text, start="start") == built.parse(text, start="start")


def test_tables_of_another_grammar_are_not_used() -> None:
    assert load(grammar_text() + "\n", Lines()) is None
