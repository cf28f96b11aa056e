"""Findings about quota: arithmetic over the tree, silent where nothing is wrong."""
# ruff: noqa: E501 - findings stand beside the lines they are about

import pytest

from tests.language.chunks import expected, plain, reported, split

CHUNKS = """
cohort c {
  cap { cpu 30, memory 3Gi }       ### TG306 "this cap never binds: all below `c` can hold at most 30"
  pool { cpu 10, memory 1Gi }
  queue a { quota { cpu 10, memory 1Gi } }
  queue b { quota { cpu 10, memory 2Gi } }
}
---
cohort top {
  pool { cpu 10 }
  cohort in-it {
    cap { cpu 15 }
    queue a { quota { cpu 10 } }
  }
  cohort bound {
    pool { cpu 0 borrow 5 }
    cap { cpu 15 }                 ### TG306 "this cap never binds: all below `bound` can hold at most 15"
    queue b { quota { cpu 10 lend none } }
  }
}
---
cohort c {
  cap { memory 2Gi }               ### TG307 "queue `a` owns 3Gi, more than this cap lets all together hold"
  queue a { quota { memory 3Gi lend 4Gi } }   ### TG304 "`lend 4Gi`, but there is only 3Gi to lend"
  queue b { quota { memory 2048, cpu 1 } }    ### TG014 "2048 bytes of memory"
  cohort d {
    pool { cpu 1 lend 5 }          ### TG304 "`lend 5`, but there is only 4 to lend"
    queue e { quota { cpu 3, memory 0 } }
  }
}
flavor unused { }                  ### TG308 "no quota and no pool names flavor `unused`"
flavor only-capped { }             ### TG308 "no quota and no pool names flavor `only-capped`"
cohort f {
  cap only-capped { cpu 0 }        ### TG306 "this cap never binds: all below `f` can hold at most 0"
}
---
cohort c {
  pool { memory 2000000 }          ### TG311 "`2000000` bytes of memory beside `4Ti`: its siblings have units"
  queue a { quota { memory 8Ti, cpu 4 } }
  queue b { quota { memory 2000000, cpu 4000000 lend 2000000 } } ### TG311 "`2000000` bytes of memory beside `4Ti`: its siblings have units"
  queue d { quota { memory 4Ti } }
}
---
cohort c {
  queue a { quota { memory 8Ti } }
  queue b { quota { memory 2000000 } }
  queue d { quota { memory 5Mi } }
  cohort e {
    queue f { quota { memory 2000000 } }
  }
}
cohort g {
  queue h { quota { memory 8Ti } }
  queue i { quota { memory 9000000000 } }
  queue j { quota { memory 2M } }
  queue k { quota { memory 0 } }
}
---
flavor a { node "x" = "1" }
flavor b { node "x" = "2" }
queue q {
  quota a { cpu 1, memory 8Ti }
  quota b { cpu 1, memory 2000000 } ### TG311 "`2000000` bytes of memory beside `8Ti`: its siblings have units"
}
"""


@pytest.mark.parametrize("chunk", split(CHUNKS))
def test_findings_stand_at_the_amount_they_are_about(chunk: str) -> None:
    assert reported(plain(chunk)) == expected(chunk)
