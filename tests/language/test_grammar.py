"""The grammar itself: no conflict, no two terminals for one text where both may stand."""

from concurrent.futures import ThreadPoolExecutor

from webhook.language.grammar import build_parser, parse_tree


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
