"""A target that nothing makes gets one sentence: what is wrong with it, and what there is."""

import pytest

from workflow.flow import run


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("{results}/figures/how-quick/figre-4.pdf", "no figure of how-quick is called 'figre-4'. Did you"),
        ("{results}/tables/how-quack.csv", "no study is called 'how-quack'. Did you mean how-quick"),
        ("{results}/tables/how-quick/10mbit.csv", "no selected cell of how-quick is called '10mbit'. Did"),
        ("results/tables/how-quick.csv", "Ask for {results}/tables/how-quick.csv"),
        ("how-quick", "no target is called so. Did you mean how_quick"),
        ("README.md", "nothing makes it. Ask for "),
        (".", "nothing makes it. Ask for "),
    ],
)  # fmt: skip
def test_what_nothing_makes_is_told_and_nothing_is_left(tmp_path, monkeypatch, target, told):
    results, temporary = tmp_path / "results", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    asked = target.format(results=results)
    status, output = run(results, asked)
    assert status != 0
    said = [line for line in output.splitlines() if line.startswith(f"howquick: {asked}: ")]
    assert len(said) == 1 and told.format(results=results) in said[0], output
    assert "Traceback" not in output and "Exception" not in output
    assert not (results / "tables").exists()
    assert not list(temporary.iterdir())
