"""The arrows and walls between the folders, read from the source: who may import whom, and who may print."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import knuckle

ROOT = Path(__file__).resolve().parents[1]
BELOW = {
    "robot": set(),
    "ik": {"robot"},
    "controllers": {"robot", "ik"},
    "checks": {"robot", "ik"},
    "view": {"robot", "ik"},
    "cli": {"robot", "ik", "controllers", "checks", "view"},
}
CALLED_FROM_THE_FACADE = {"robot": {"ik", "view"}}  # what methods of the robot import when they are called
WALLS: dict[str, str | tuple[str, ...]] = {  # library: where it may be imported
    "pinocchio": "robot/",
    "coal": "robot/",
    "hppfcl": "nowhere",
    "scipy.optimize": "ik/scipy_method.py",
    "meshcat": "nowhere",  # its viewer is read as a file: importing it starts ZeroMQ and IPython
    "tornado": "view/handlers.py",
    "anywidget": "view/jupyter.py",
    "ipywidgets": "view/jupyter.py",
    "traitlets": "view/jupyter.py",
    "viser": "view/viser_view.py",
    "xacro": "robot/xacro_reading.py",
    "yaml": "robot/limits_file.py",
    "daqp": "ik/velocity_qp.py",
    "toppra": "checks/retiming.py",
    "matplotlib": ("ik/debug.py", "controllers/recording.py", "checks/plots.py"),
}
FILES = sorted(path for room in BELOW for path in (ROOT / room).rglob("*.py"))
PUBLIC = ROOT / "python" / "knuckle" / "__init__.py"


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def running(node: ast.AST, *, functions: bool) -> Iterator[ast.AST]:
    """The nodes below `node` that run: not what only a type checker reads, function bodies only if wanted."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not functions:
            continue
        yield child
        yield from running(child, functions=functions)


def imports(path: Path, *, functions: bool = True) -> set[str]:
    """Dotted names a file imports, relative ones spelt out below `knuckle`."""
    package = ["knuckle", *path.relative_to(ROOT).parent.parts]
    found: set[str] = set()
    for node in running(tree_of(path), functions=functions):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            found.update(f"{module}.{alias.name}" for alias in node.names)
    return found


def rooms(names: set[str]) -> set[str]:
    return {name.split(".")[1] for name in names if name.startswith("knuckle.")} & set(BELOW)


def inner_graph() -> dict[str, set[str]]:
    """Modules of robot/ and the modules of robot/ each imports when it is loaded."""
    files = {path.stem: path for path in FILES if path.parent == ROOT / "robot" and path.stem != "__init__"}
    return {
        stem: {name.split(".")[2] for name in imports(path, functions=False) if name.startswith("knuckle.robot.")}
        & set(files)
        for stem, path in files.items()
    }


def reached(start: str, graph: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    queue = [start]
    while queue:
        for module in graph[queue.pop()] - seen:
            seen.add(module)
            queue.append(module)
    return seen


def test_rooms_import_only_what_lies_below() -> None:
    offences = []
    for path in FILES:
        room = path.relative_to(ROOT).parts[0]
        allowed = BELOW[room] | {room}
        on_call = allowed | CALLED_FROM_THE_FACADE.get(room, set())
        if rooms(imports(path, functions=False)) - allowed or rooms(imports(path)) - on_call:
            offences.append(name_of(path))
    assert not offences


def test_libraries_stay_behind_their_walls() -> None:
    offences = [
        f"{name_of(path)} imports {name}"
        for path in FILES
        for name in imports(path)
        for library, place in WALLS.items()
        if f"{name}.".startswith(f"{library}.") and not name_of(path).startswith(place)
    ]
    assert not offences


def test_arrows_inside_robot() -> None:
    graph = inner_graph()
    assert not graph["errors"]
    assert graph["arrays"] <= {"errors"}
    assert not reached("spatial", graph) & {"transformation", "tolerance"}
    assert not reached("tolerance", graph) & {"base", "loading", "kinematics", "dynamics", "pin_robot"}
    for module in (
        "loading",
        "mjcf_loading",
        "link_tree",
        "diagnosis",
        "kinematics",
        "dynamics",
        "body",
        "rearranging",
        "draft",
    ):
        assert not reached(module, graph) & {"base", "pin_robot"}, module


def test_modules_of_robot_import_one_another_in_one_direction() -> None:
    graph = inner_graph()
    assert not [module for module in graph if module in reached(module, graph)]


def test_a_robot_needs_no_pinocchio_until_it_is_a_pinocchio_robot() -> None:
    graph = inner_graph()
    needed = {"base", *reached("base", graph)}
    using = {module for module in needed if "pinocchio" in imports(ROOT / "robot" / f"{module}.py", functions=False)}
    assert not using


def test_only_the_command_line_prints() -> None:
    offences = [
        f"{name_of(path)}:{node.lineno}"
        for path in [*FILES, PUBLIC]
        if not name_of(path).startswith("cli/")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not offences


def test_nothing_draws_from_a_global_generator() -> None:
    allowed = {"Generator", "default_rng", "SeedSequence", "BitGenerator", "PCG64"}
    offences = [
        f"{name_of(path)}:{node.lineno} {ast.unparse(node)}"
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) in ("np.random", "numpy.random", "random")
        and node.attr not in allowed
    ]
    assert not offences


def test_files_stay_short_by_splitting_along_their_nouns() -> None:
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert not {name: lines for name, lines in lengths.items() if lines > 320}


def test_the_public_module_only_collects_names() -> None:
    collecting = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr, ast.Try)
    assert not [node.lineno for node in tree_of(PUBLIC).body if not isinstance(node, collecting)]


def test_every_public_name_exists_once() -> None:
    assert not [name for name in knuckle.__all__ if not hasattr(knuckle, name)]
    assert len(set(knuckle.__all__)) == len(knuckle.__all__)


def test_no_file_of_the_package_grows_two_subjects() -> None:
    """About 300 lines; a file that passes them splits along its nouns."""
    sources = [*FILES, *(ROOT / "native").iterdir(), *(ROOT / "view").glob("*.js")]
    assert not {name_of(path): n for path in sources if (n := len(path.read_text("utf-8").splitlines())) > 315}
