"""How the command line complains, and how it behaves as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import knuckle
from knuckle.cli import main

from .cli_cases import DUAL, PLANAR, QUADRUPED, SAMPLES, Captured


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ([], "COMMAND"),
        (["fly", PLANAR], "fly"),
        (["fk"], "ROBOT"),
        (["fk", PLANAR, "--wings"], "--wings"),
        (["fk", "no_such_file.urdf"], "no_such_file.urdf"),
        (["fk", str(SAMPLES)], SAMPLES.name),
        (["fk", str(SAMPLES / "README.md")], "README.md"),
        (["fk", PLANAR, "--q", "1"], "--q needs 2 numbers, got 1"),
        (["fk", PLANAR, "--q", "1", "2", "3"], "--q needs 2 numbers, got 3"),
        (["fk", PLANAR, "--q", "a", "b"], "'a'"),
        (["fk", PLANAR, "--q", "nan", "0"], "finite"),
        (["fk", PLANAR, "--q", "-inf", "0"], "finite"),
        (["fk", PLANAR, "--q", "elbow_x=1"], "elbow_x"),
        (["fk", PLANAR, "--q", "a=1", "2"], "mixes"),
        (["fk", PLANAR, "--frame", "tcq"], "tcq"),
        (["fk", PLANAR, "--tcp", "tcq"], "tcq"),
        (["fk", PLANAR, "--kind", "some"], "some"),
        (["fk", DUAL], "tcp"),
        (["id", PLANAR, "--dq", "1"], "--dq needs 2"),
        (["id", PLANAR, "--wrench", "1", "2"], "--wrench"),
        (["id", PLANAR, "--wrench", "1", "2", "3", "4", "5", "x"], "'x'"),
        (["id", PLANAR, "--wrench", "1", "2", "3", "4", "5", "6", "--wrench-frame", "moon"], "moon"),
        (["fd", PLANAR, "--tau", "1", "2", "3"], "--tau needs 2"),
        (["ik", PLANAR], "--xyz"),
        (["ik", PLANAR, "--xyz", "1", "2"], "--xyz"),
        (["ik", PLANAR, "--xyz", "1", "2", "nan"], "finite"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--rpy", "0", "0", "0", "--quat-xyzw", "0", "0", "0", "1"], "--rpy"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--quat-xyzw", "0", "0", "0", "0"], "quat"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--method", "jacobean"], "jacobian"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--seed", "-1"], "seed"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--max-iter", "0"], "max_iter"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--max-iter", "many"], "many"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--frame", "tcq"], "tcq"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--position-tolerance", "0"], "--position-tolerance"),
        (["ik", PLANAR, "--xyz", "1", "0", "0", "--rotation-tolerance", "x"], "--rotation-tolerance"),
        (["inspect", PLANAR, "--xacro-arg", "x"], "--xacro-arg"),
        (["inspect", "planar_2"], "planar_2"),
        (["inspect", PLANAR, "--joint-limits", "none.yaml"], "none.yaml"),
        (["demo", DUAL], "tcp"),
        (["doctor", "--q", "1"], "--q"),
    ],
    ids=lambda value: " ".join(Path(word).name for word in value) if isinstance(value, list) else None,
)
def test_bad_input_is_one_line_on_standard_error_and_exit_2(argv: list[str], says: str, capsys: Captured) -> None:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("knuckle: error: ") and err.count("\n") == 1
    assert says in err


def test_warnings_of_a_lenient_load_go_to_standard_error(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "weak.urdf"
    source = Path(PLANAR).read_text(encoding="utf-8")
    path.write_text(source.replace('effort="', 'effort="0" was="', 1), encoding="utf-8")
    assert main(["fk", str(path), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) and err.startswith("knuckle: warning: ") and err.count("\n") == 1
    assert main(["fk", str(path), "--strict"]) == 2


def test_a_configuration_outside_its_limits_is_taken_with_a_warning(capsys: Captured) -> None:
    robot = knuckle.PinRobot.from_urdf(PLANAR)
    assert main(["fk", PLANAR, "--q", "0", "90", "--json"]) == 0
    out, err = capsys.readouterr()
    assert list(json.loads(out)["q"].values()) == [0, 90]
    assert err == f"knuckle: warning: --q is outside the limits of {robot.joints[1]}\n"


@pytest.mark.parametrize("argv", [["--help"], ["ik", "--help"], ["--version"]])
def test_help_and_version(argv: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as left:
        main(argv)
    assert left.value.code == 0
    assert "knuckle" in capsys.readouterr().out


def test_the_installed_command_answers_in_a_plain_terminal() -> None:
    command = Path(sys.executable).with_name("knuckle")
    done = subprocess.run(
        [command, "inspect", PLANAR], capture_output=True, env={"PYTHONIOENCODING": "ascii"}, timeout=60, check=False
    )
    assert done.returncode == 0 and not done.stderr
    assert b"`- " in done.stdout and b"?" not in done.stdout


def test_a_reader_that_leaves_early_sees_no_traceback() -> None:
    code = "import sys; from knuckle.cli import main; sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "inspect", QUADRUPED], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    with process.stderr as errors:
        assert errors.read() == b""
    process.wait(timeout=60)
