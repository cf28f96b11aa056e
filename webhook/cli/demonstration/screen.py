"""The live screen: a row a queue with its bars, who waits there and why, and what happened last.

Pure: a picture and a size in, something rich can draw out. Narrow and low terminals get less of it,
never a torn one. Colors mean: green is own quota, yellow is borrowed, red is refused or wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from webhook.cli.demonstration.picture import (
    Bar,
    CohortPicture,
    Picture,
    Progress,
    QueuePicture,
    SharedPicture,
    Waits,
)
from webhook.cli.demonstration.summary import amount_text
from webhook.cli.demonstration.watching import Happening, Sort
from webhook.cli.demonstration.workday import clock_text

ROOMY, WIDE, NARROW = 160, 104, 72
LEAST_NEWS, MOST_NEWS = 6, 12
Sized: TypeAlias = tuple[RenderableType, int]
"""Something to draw, and how many lines it takes."""
OWN, BORROWED, MARK = "green", "yellow", "bright_black"
_SIGNS = {
    Sort.STARTED: ("▶", "cyan"),
    Sort.FINISHED: ("✔", "green"),
    Sort.FAILED: ("✘", "red"),
    Sort.REFUSED: ("✘", "red"),
}


def screen(picture: Picture, *, width: int, height: int) -> RenderableType:
    """Everything, cut to the size of the terminal."""
    footer = _footer(picture, width)
    for rows in (3, 2, 1):
        body = list(_body(picture, width, rows))
        left = height - sum(lines for _, lines in (*body, *footer))
        if left >= LEAST_NEWS:
            break
    news = _happenings(picture, min(MOST_NEWS, left - 2), width)
    parts = [part for part, _ in body]
    if news:
        parts += [Rule(style=MARK), *news]
    return Group(*parts, *(part for part, _ in footer))


def _body(picture: Picture, width: int, rows: int) -> Iterator[Sized]:
    """The head and the queues; ``rows``: bars and waiting ones a queue."""
    yield from _header(picture.progress, width)
    yield Text(), 1
    for cohort in picture.cohorts:
        yield from _cohort(cohort, width, rows)


def _header(progress: Progress, width: int) -> list[Sized]:
    over = progress.over_moments
    verdict = Text(f"over quota {over}×", "bold red") if over else Text("over quota never", OWN)
    first = Table.grid(expand=True)
    first.add_column()
    first.add_column(justify="right")
    title = Text.assemble(("tidegate demo", "bold"), f"  {progress.clock}  ", no_wrap=True)
    if width >= 50:
        title.append(_day_bar(progress.part, min(40, width - 42)))
    first.add_row(title, verdict)
    running = progress.started - progress.finished
    waiting = progress.submitted - progress.refused - progress.started
    counts = Text.assemble(
        (f"{progress.submitted}/{progress.planned}", "bold"),
        " submitted  ",
        (f"{running}", "bold cyan"),
        " running  ",
        (f"{waiting}", "bold yellow"),
        " waiting  ",
        (f"{progress.finished}", "bold green"),
        " finished  ",
        (f"{progress.refused}", "bold red"),
        " refused",
        overflow="ellipsis",
        no_wrap=True,
    )
    return [(first, 1), (counts, 1)]


def _day_bar(part: float, cells: int) -> Text:
    done = min(cells, round(part * cells))
    return Text.assemble(("━" * done, "cyan"), ("─" * (cells - done), MARK))


def _cohort(cohort: CohortPicture, width: int, rows: int) -> Iterator[Sized]:
    if cohort.name:
        title = Text.assemble((cohort.name, "bold"), no_wrap=True, overflow="ellipsis")
        for shared in cohort.shared:
            title.append("   ").append_text(_shared(shared))
        yield title, 1
    for queue in cohort.queues:
        if width >= WIDE:
            yield _wide(queue, rows, 14 if width < ROOMY else 24), rows
        else:
            yield _narrow(queue, width, rows), min(rows, len(queue.bars)) + 1
        if rows > 1:
            yield Text(), 1


def _shared(shared: SharedPicture) -> Text:
    full = shared.held >= shared.of
    text = f"{amount_text(shared.held, shared.resource)}/{amount_text(shared.of, shared.resource)}"
    return Text.assemble(
        (f"{shared.what} {shared.label} ", MARK), (text, BORROWED if full else MARK)
    )


def _wide(queue: QueuePicture, rows: int, cells: int) -> Table:
    """Name and counts, bars, and who waits, side by side."""
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(width=11, no_wrap=True, overflow="ellipsis")
    table.add_column(width=12, no_wrap=True)
    table.add_column(width=cells + 25, no_wrap=True)
    table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    counts = _counts(queue) if rows > 1 else [_short_counts(queue)]
    names = [Text(f"  {queue.name}", "bold"), Text(f"  {queue.order}", MARK)]
    bars = [_bar(bar, cells) for bar in queue.bars]
    front = [_waits(one) for one in queue.front] or [_nobody(queue)]
    for row in range(rows):
        table.add_row(
            *(part[row] if row < len(part) else Text() for part in (names, counts, bars, front))
        )
    return table


def _narrow(queue: QueuePicture, width: int, rows: int) -> Table:
    """Bars beside the name, the first who waits below."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=10, no_wrap=True, overflow="ellipsis")
    table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    cells = 20 if width >= NARROW else 8
    names = [Text(f" {queue.name}", "bold"), Text(f" {queue.order}", MARK)]
    bars = [_bar(bar, cells) for bar in queue.bars][:rows]
    for row, bar in enumerate(bars):
        table.add_row(names[row] if row < len(names) else Text(), bar)
    below = _short_counts(queue)
    if queue.front:
        below.append("  ").append_text(_waits(queue.front[0]))
    table.add_row(names[1] if len(bars) == 1 else Text(), below)
    return table


def _counts(queue: QueuePicture) -> list[Text]:
    return [
        Text.assemble((f"{queue.running:>3}", "bold cyan"), " running"),
        Text.assemble((f"{queue.waiting:>3}", "bold yellow"), " waiting"),
        Text.assemble((f"{queue.finished:>3}", "bold green"), " finished"),
    ]


def _short_counts(queue: QueuePicture) -> Text:
    return Text.assemble(
        (f"{queue.running}▶", "cyan"),
        (f" {queue.waiting}…", "yellow"),
        (f" {queue.finished}✔", "green"),
    )


def _bar(bar: Bar, cells: int) -> Text:
    """Own part, borrowed part, what is its own and free, what it could borrow."""
    scale = max(bar.most, bar.nominal, bar.own + bar.borrowed, 1)
    own = _cells(bar.own, scale, cells)
    borrowed = min(cells - own, _cells(bar.borrowed, scale, cells))
    free = max(0, min(cells - own - borrowed, round(cells * bar.nominal / scale) - own))
    rest = cells - own - borrowed - free
    text = Text.assemble(
        f"{bar.label[:6]:<6} ",
        ("█" * own, OWN),
        ("█" * borrowed, BORROWED),
        ("░" * free, OWN),
        ("·" * rest, MARK),
    )
    own_text = amount_text(bar.own, bar.resource)
    text.append(f" {own_text:>5}", "bold").append(
        f"/{amount_text(bar.nominal, bar.resource)}", MARK
    )
    if bar.borrowed:
        text.append(f" +{amount_text(bar.borrowed, bar.resource)}", BORROWED)
    return text


def _cells(amount: int, scale: int, cells: int) -> int:
    """At least one for anything at all."""
    return max(1, round(cells * amount / scale)) if amount else 0


def _waits(one: Waits) -> Text:
    alike = f" +{one.alike}" if one.alike else ""
    return Text.assemble((one.title, "yellow"), (alike, MARK), f"  {one.why}")


def _nobody(queue: QueuePicture) -> Text:
    return Text("nobody waits" if not queue.waiting else "…", MARK)


def _happenings(picture: Picture, room: int, width: int) -> list[Text]:
    """The last ones, newest below; a refusal is kept in sight longer than a start."""
    if room < 1:
        return []
    lines = list(picture.happenings)[-room:]
    refusals = [one for one in picture.happenings if one.sort is Sort.REFUSED]
    if refusals and refusals[-1] not in lines:
        lines = [refusals[-1], *lines[1:]]
    return [_happening(one, width) for one in lines]


def _happening(one: Happening, width: int) -> Text:
    sign, style = _SIGNS[one.sort]
    text = Text.assemble(
        (f"{clock_text(one.at)} ", MARK),
        (f"{sign} {one.sort.value:<9}", style),
        one.title,
        no_wrap=True,
        overflow="ellipsis",
    )
    if one.text:
        text.append(f"  {one.text}", style if one.sort is Sort.REFUSED else MARK)
    text.truncate(width, overflow="ellipsis")
    return text


def _footer(picture: Picture, width: int) -> list[Sized]:
    join = Text.assemble(("join in: ", MARK), (picture.reader, "bold"), overflow="fold")
    lines: list[Sized] = [(Rule(style=MARK), 1), (join, len(join.wrap(Console(), width)))]
    if picture.note:
        lines.append((Text(picture.note, MARK, no_wrap=True, overflow="ellipsis"), 1))
    return lines
