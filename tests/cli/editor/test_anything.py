"""Whatever stands in a buffer and wherever the cursor is, an editor gets an answer."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from tests.cli.editor.marked import FILE, workspace
from webhook.cli.editor.completion import complete
from webhook.cli.editor.hover import hover
from webhook.cli.editor.names import name_at, places
from webhook.cli.editor.rename import Refused, rename

POLICY = """\
resource gpu = nvidia.com/gpu
cohort research {
  cap { gpu 80 }
  queue vision { quota { gpu 64 borrow 16, cpu 1 }
    limit gpu 4 jobs 2 per user
    accept when labels["team"] in ["a", 'b'] || !(pods > 3)
  }
}
route vision for Job when requests.gpu > 1 to vision
deny big when queue == "vision" && {"a": 1}.a > 0 { message "no {requests.gpu} {{x}}" }
test "t" { given queue vision running { gpu 1 } }
"""
PIECES = st.sampled_from(
    ["{", "}", '"', "'", "(", "[", "\n", "¦", "queue ", "when ", "😀", "\r", ",", ". ", "#"]
)


@st.composite
def buffers(draw: st.DrawFn) -> tuple[str, int]:
    text = POLICY
    for _ in range(draw(st.integers(0, 3))):
        at, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        text = text[:at] + draw(PIECES) + text[min(end, at + draw(st.integers(0, 60))) :]
    return text, draw(st.integers(0, len(text)))


@given(buffers())
@example(("", 0))
@example((POLICY, len(POLICY)))
def test_every_question_has_an_answer(buffer: tuple[str, int]) -> None:
    text, offset = buffer
    here = workspace(text)
    offers = complete(here, text, offset)
    assert 0 <= offers.start <= offset
    assert all(offer.text.startswith(text[offers.start : offset]) for offer in offers.items)
    hover(here, FILE, offset)
    file = here.file(FILE)
    assert file is not None
    use = name_at(file, offset)
    if use is not None:
        assert use in places(here.files, use)
        try:
            rename(here, use, "other")
        except Refused as error:
            assert str(error)
