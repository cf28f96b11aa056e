"""Every entry of `quota`, `pool` and `cap` with where it stands: what findings about quota go through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from webhook.language.names import Names
from webhook.language.syntax import Block, Cohort, Queue, Share
from webhook.model.queues import DEFAULT_FLAVOR, FlavorResource


class Entry(NamedTuple):
    """One entry of a block, where it stands and what it is about."""

    node: Queue | Cohort
    block: Block
    share: Share
    what: FlavorResource


def read_entries(names: Names, aliases: Mapping[str, str]) -> Iterator[Entry]:
    """In the order of the names."""
    for member in names.members.values():
        for part in member.node.body:
            if isinstance(part, Block):
                flavor = part.flavor.text if part.flavor else DEFAULT_FLAVOR
                for share in part.shares:
                    name = share.resource.text
                    what = FlavorResource(flavor, aliases.get(name, name))
                    yield Entry(member.node, part, share, what)
