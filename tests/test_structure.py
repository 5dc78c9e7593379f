"""The organisation of the code, and the lock files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
OURS = ("agent", "reviewer", "training")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CORE = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
TEST = PROJECT["project"]["optional-dependencies"]["test"]
LARGEST_FOLDER = 25
NAMES = {
    "markdown-it-py": "markdown_it",
    "pillow": "PIL",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
    "sqlite-utils": "sqlite_utils",
}
"""Packages that are imported under another name than they are installed by."""
LAZY = {"torch", "torchvision", "transformers", "trl", "peft", "datasets", "accelerate", "vllm", "deepspeed", "ray"}
"""Only imported inside the functions that need them: the app starts without them."""
NEVER = {"agent": {"reviewer", "training"}, "reviewer": {"training"}, "training": {"reviewer"}}
_JS_IMPORT = re.compile(r"""\b(?:from|import)\s*\(?\s*["'](\.[^"']+)["']""")
"""Imports of a module, dynamic ones and those of types in comments included."""
VAGUE = {"found", "made", "room", "there", "wanted"}
"""Names that do not say which thing they mean."""
EVERYDAY = {"asked", "beside", "door", "heard", "look", "looks", "said", "told", "wanted"}
"""Everyday words in a private sense, which are not part of a name either."""
ONLY_IN = {"gradio": "reviewer.ui", "sqlite3": "reviewer.store", "sqlite_utils": "reviewer.store"}


@cache
def tracked() -> tuple[str, ...]:
    """Files of the tree that git tracks, or would: not what it ignores."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return tuple(sorted({name for name in listed if (ROOT / name).exists()}))


@cache
def modules() -> dict[str, ast.Module]:
    """Product modules by dotted name."""
    files = [name for name in tracked() if name.endswith(".py") and name.split("/")[0] in (*OURS, "app.py")]
    return {name[:-3].removesuffix("/__init__").replace("/", "."): ast.parse(text_of(name)) for name in files}


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def imports() -> list[tuple[str, ast.stmt, str]]:
    """Every import statement of the product with its module, once for each full name that it imports."""
    names: list[tuple[str, ast.stmt, str]] = []
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names += [(module, node, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, "relative import"
                names += [(module, node, f"{node.module}.{alias.name}") for alias in node.names]
    return names


@cache
def packages() -> set[tuple[str, str]]:
    """Each product module with each top-level package that it imports."""
    return {(module, full.partition(".")[0]) for module, _, full in imports()}


def test_no_folder_has_too_many_files() -> None:
    sizes = Counter(str(Path(name).parent) for name in tracked())
    assert {folder: size for folder, size in sizes.items() if size > LARGEST_FOLDER} == {}


def test_every_imported_package_is_declared() -> None:
    extras = PROJECT["project"]["optional-dependencies"].values()
    lines = [*PROJECT["project"]["dependencies"], *(line for extra in extras for line in extra)]
    names = [re.match(r"[\w.-]+", line)[0].lower() for line in lines]
    known = {NAMES.get(name, name.replace("-", "_")) for name in names} | sys.stdlib_module_names | {*OURS, "app"}
    assert sorted(f"{module} imports {package}" for module, package in packages() if package not in known) == []


def test_imports_point_downwards() -> None:
    wrong = {
        f"{module} imports {package}"
        for module, package in packages()
        if package in NEVER.get(module.partition(".")[0], set()) | {"app", "tests"}
    }
    assert wrong == set()


def test_packages_are_imported_in_one_place_only() -> None:
    limited = [(module, ONLY_IN[package]) for module, package in packages() if package in ONLY_IN]
    assert {place for _, place in limited} == set(ONLY_IN.values())
    assert [module for module, place in limited if not f"{module}.".startswith(f"{place}.")] == []


def test_model_libraries_are_imported_inside_functions_only() -> None:
    scopes = [scope for tree in modules().values() for scope in ast.walk(tree) if is_function_or_for_types(scope)]
    inside = {node for scope in scopes for node in ast.walk(scope)}
    assert [
        f"{module}: {full}" for module, node, full in imports() if full.split(".")[0] in LAZY and node not in inside
    ] == []


def is_function_or_for_types(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def test_no_import_cycles() -> None:
    graph: dict[str, set[str]] = {name: set() for name in modules()}
    for module, _, full in imports():
        # An imported name is a module, or lies in one.
        graph[module] |= {full, full.rpartition(".")[0]} & ({full} if full in graph else graph.keys())
    assert [sorted(cycle) for cycle in _cycles(graph)] == []


def test_no_import_cycles_between_javascript_modules() -> None:
    """Types that a comment imports count: who reads one module of a cycle has to read them all."""
    static = ROOT / "reviewer/ui/static"
    graph = {
        str(path.relative_to(static)): {
            str((path.parent / name).resolve().relative_to(static))
            for name in _JS_IMPORT.findall(path.read_text(encoding="utf-8"))
        }
        for path in static.rglob("*.js")
    }
    assert set().union(*graph.values()) <= set(graph)
    assert _cycles(graph) == []


def _cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Modules that import each other, directly or through others."""
    reached = {name: _reached(graph, name) for name in graph}
    cycles = {frozenset({other for other in reached[name] if name in reached[other]}) for name in graph}
    return [set(cycle) for cycle in cycles if cycle]


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    todo = list(graph[start])
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo += graph.get(name, ())
    return reached


def layers(package: str) -> list[list[str]]:
    """The order of a package's folders and modules, lowest first, as its design page states it."""
    section = text_of(f"docs/design/{package}.md").partition("## Order\n")[2].partition("\n## ")[0]
    return [re.findall(r"`(\w+)`", line) for line in section.splitlines() if re.match(r"\d+\. ", line)]


@pytest.mark.parametrize("package", OURS)
def test_the_order_names_every_part_of_the_package_and_no_part_imports_upwards(package: str) -> None:
    rank = {part: number for number, layer in enumerate(layers(package)) for part in layer}
    names = {name.split(".")[1] for name in modules() if name.startswith(f"{package}.")}
    assert sorted(part for layer in layers(package) for part in layer) == sorted(names)
    wrong = {
        f"{module} imports {full}"
        for module, _, full in imports()
        if module.startswith(f"{package}.")
        and full.startswith(f"{package}.")
        and (part := full.split(".")[1]) != (own := module.split(".")[1])
        and rank[part] >= rank[own]
    }
    assert wrong == set()


MESSAGES = {"tr", "trn", "deferred", "deferredn", "joined"}
PARTS_OF_A_MESSAGE = {"Mismatch", "_Bad"}
"""Raised with the parts of a message, from which another exception is made at once."""


def test_every_exception_with_a_message_for_a_person_is_a_refusal() -> None:
    nodes = [(name, node) for name, tree in modules().items() for node in ast.walk(tree)]
    bases = {node.name: {name_of(base) for base in node.bases} for _, node in nodes if isinstance(node, ast.ClassDef)}
    refusals = {name for name in bases if "Refusal" in _reached(bases, name)}
    assert {
        f"{module}:{node.lineno} {name}"
        for module, node in nodes
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
        if (name := name_of(node.exc.func)) in bases.keys() - refusals - PARTS_OF_A_MESSAGE
        if any(isinstance(call, ast.Call) and name_of(call.func) in MESSAGES for call in ast.walk(node.exc))
    } == set()


def name_of(node: ast.expr) -> str:
    """The last name of ``a.b.c``, or of ``c[d]``."""
    if isinstance(node, ast.Subscript):
        return name_of(node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def test_names_say_which_thing_they_are() -> None:
    used = [(name, module) for module, tree in modules().items() for name in identifiers(tree)]
    vague = {f"{module}: {name}" for name, module in used if name.strip("_") in VAGUE or parts(name) & EVERYDAY}
    assert {name for name in vague if not name.lower().endswith(": look_alikes")} == set()
    assert sum(name == "one" for name, _ in used) < 500


def identifiers(tree: ast.AST) -> Iterator[str]:
    """Every use of a name in a module: variables, arguments, attributes, functions, classes."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name


def parts(name: str) -> set[str]:
    return {part.lower() for part in re.findall(r"[A-Z]*[a-z]+|[A-Z]+", name)}


def test_no_third_party_bundle_in_the_tree() -> None:
    scripts = [name for name in tracked() if name.endswith((".js", ".css"))]
    assert [name for name in scripts if max(map(len, text_of(name).splitlines()), default=0) > 1000] == []
    assert [name for name in tracked() if ".min." in name] == []


def locked_in(name: str) -> dict[str, list[Version]]:
    versions: dict[str, list[Version]] = {}
    for package, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text_of(name), re.MULTILINE):
        versions.setdefault(canonicalize_name(package), []).append(Version(version))
    return versions


@pytest.mark.parametrize(("lock", "lines"), [("requirements.lock", CORE), ("requirements-test.lock", [*CORE, *TEST])])
def test_each_requirement_is_locked_to_versions_it_accepts_with_hashes_and_no_address(
    lock: str, lines: list[str]
) -> None:
    versions = locked_in(lock)
    for requirement in map(Requirement, lines):
        assert all(map(requirement.specifier.contains, versions[canonicalize_name(requirement.name)])), requirement
    text = text_of(lock)
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(entries) > 80
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text
    assert "--index" not in text


def test_both_lock_files_have_the_same_versions() -> None:
    core, test = locked_in("requirements.lock"), locked_in("requirements-test.lock")
    assert {name: test[name] for name in core} == core
    assert "pytest" not in core
