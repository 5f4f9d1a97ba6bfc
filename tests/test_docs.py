"""The documents say what the program does: hooks, names, commands, links, and the example that has to run."""

import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from site_reference import interface, plain_signature

from plaidwork.core import api, api_blocks, api_pictures, api_scores
from plaidwork.core.cli.options import COMMANDS, command_parser
from plaidwork.core.contract import hookspecs
from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.contract.spec import Input, ModelSpec, Trace, Variable, View

ROOT = Path(__file__).resolve().parent.parent
PLUGINS = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
COMMAND_LINE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = sorted(
    path
    for path in [*ROOT.glob("*.md"), *ROOT.glob("*/**/*.md")]
    if not {".dev", ".venv", "node_modules", "dist", "build", ".git"} & set(path.relative_to(ROOT).parts)
)
INTERFACE = interface()
HOOKS = [name for name in dir(hookspecs) if name.startswith("plaidwork_")]


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_documented_and_tested(hook):
    assert f"`{hook}()`" in PLUGINS
    tests = [path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]
    assert any(hook in path.read_text(encoding="utf-8") for path in tests), f"{hook} has no test"


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module in INTERFACE for name in module.__all__],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_every_name_of_the_interface_is_documented(module, name):
    assert re.search(rf"\b{name}\b", PLUGINS), f"docs/plugins.md does not mention {name}"
    thing = getattr(module, name)
    if callable(thing) and getattr(thing, "__module__", "").startswith("plaidwork"):
        assert thing.__doc__, f"{name} has no docstring"


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (module, name)
        for module in INTERFACE
        for name in module.__all__
        if inspect.isfunction(getattr(module, name)) or name == "ByChain"
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_every_helper_is_documented_as_it_is_called(module, name):
    """In a table headed by its module: the signature, and beside it shapes wherever there are arrays."""
    helper = getattr(module, name)
    tables = re.findall(
        rf"^\| `{re.escape(module.__name__)}` \| \|\n(.*?)\n\n", PLUGINS, re.DOTALL | re.MULTILINE
    )
    (text,) = re.findall(
        rf"^\| `{name}{re.escape(plain_signature(helper))}` \| (.*) \|$", "\n".join(tables), re.MULTILINE
    )
    returned = str(inspect.signature(helper).return_annotation)
    if "ndarray" in returned:
        assert re.search(r"\([\w…]+,? ?.*?\)", text), f"{name}: {text}"


@pytest.mark.parametrize(
    "helper", [api_blocks.MatchedBlocks, api_scores.Scores, api_scores.Interval], ids=lambda cls: cls.__name__
)
def test_every_field_of_what_helpers_give_is_documented(helper):
    (text,) = re.findall(rf"^\| `{helper.__name__}` \| (.*) \|$", PLUGINS, re.MULTILINE)
    for name in inspect.get_annotations(helper):
        assert f"`{name}`" in text


@pytest.mark.parametrize(
    "declaration",
    [
        ModelSpec,
        Hyperparameter,
        Input,
        Variable,
        Trace,
        View,
        api.AnalysisSpec,
        api.Annotations,
        api.FileRequest,
        api.Metric,
    ],
)
def test_every_field_of_a_declaration_is_documented(declaration):
    (part,) = re.findall(rf"\*\*`{declaration.__name__}`\*\*:(.*?)\n\n", PLUGINS, re.DOTALL)
    for name in declaration.__dataclass_fields__:
        assert f"`{name}`" in part, f"{declaration.__name__}.{name}"


def test_every_method_of_a_model_is_documented():
    for name, member in vars(api.Model).items():
        if not name.startswith("_") and (callable(member) or isinstance(member, classmethod)):
            assert f"`{name}(" in PLUGINS, name


def test_the_example_plugin_runs_and_is_short(monkeypatch):
    (code,) = re.findall(r"```python\n(\"\"\"Column means.*?)```", PLUGINS, re.DOTALL)
    assert len(code.splitlines()) < 60
    plugin = ModuleType("column_means")
    exec(compile(code, "docs/plugins.md", "exec"), vars(plugin))
    from plaidwork.core.plugins import finding
    from plaidwork.core.plugins import registry as module
    from plaidwork.core.session import fitting as one_call

    class Point:
        name, value, dist = "column_means", "column_means", None

        @staticmethod
        def load():
            return plugin

    monkeypatch.setattr(finding, "entry_points", lambda group: [Point])
    monkeypatch.setattr(finding.pkgutil, "iter_modules", lambda path: ())
    found = module.Registry().load()
    assert found.plugins[0].state == "ok", found.plugins[0].details
    monkeypatch.setattr(one_call, "registry", lambda: found)

    rng = np.random.default_rng(3)
    x = rng.normal([1.0, -2.0, 5.0], 0.5, size=(200, 3))
    x[::7, 1] = np.nan
    run = one_call.fit("example.column_means", {"X": x}, chains=2, warmup=20, draws=50)
    assert run.status == "done"
    assert run.results["mean"].values == pytest.approx([1, -2, 5], abs=0.2)
    assert run.results["noise"].values == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        place = (document.parent / target.split("#")[0]).resolve()
        if place.is_relative_to(ROOT / "docs" / "pictures") and not (ROOT / "docs" / "pictures").is_dir():
            continue  # the source distribution goes without them
        assert place.exists(), f"{document.name}: {target}"


def test_the_readme_starts_with_the_two_commands():
    (first,) = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)[:1]
    assert first.split("\n") == ["sh installer/run.sh start", "sh installer/run.sh test", ""]
    script = (ROOT / "installer" / "run.sh").read_text(encoding="utf-8")
    assert all(f"    {name}) setup" in script for name in ("start", "test", "setup"))


@pytest.mark.parametrize("document", ["README.md", "docs/command-line.md"])
def test_commands_in_the_documents_exist(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    parser = command_parser()
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    for line in lines:
        words = line.split("#")[0].split()
        if words[:1] == ["plaidwork"] and words[1] in COMMANDS:
            parser.parse_args(words[1:])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name):
    assert f"`plaidwork {name}" in COMMAND_LINE
    parser = command_parser()
    (group,) = (action for action in parser._actions if hasattr(action, "choices") and action.choices)
    for action in group.choices[name]._actions:
        for option in action.option_strings:
            if option.startswith("--") and option != "--help":
                assert option in COMMAND_LINE, f"{name} {option}"


def test_the_job_file_in_the_documents_is_one(tmp_path):
    from plaidwork.core.job import job_text, read_job

    first, second, third = re.findall(r"```toml\n(.*?)```", COMMAND_LINE, re.DOTALL)
    (tmp_path / "a.toml").write_text(first, encoding="utf-8")
    job = read_job(tmp_path / "a.toml")
    assert (job.model, job.schedule["thin"], job.inputs["X"][0].file) == (
        "infinite_plaid",
        2,
        tmp_path / "matrix.csv",
    )
    from plaidwork.core.plugins.registry import registry

    spec = registry().model(job.model).spec
    spec.check_params(job.settings)
    spec.schedule.with_(**job.schedule)
    tables = tomllib.loads(second)
    (tmp_path / "b.toml").write_text(f'model = "m"\n{second}', encoding="utf-8")
    again = read_job(tmp_path / "b.toml")
    assert again.inputs["X"][0].options == tables["inputs"]["X"]["options"]
    for item in (job, again):
        (tmp_path / "c.toml").write_text(job_text(item, tmp_path), encoding="utf-8")
        assert read_job(tmp_path / "c.toml") == item
    from plaidwork.core.study import combinations
    from plaidwork.core.study.file import read_study

    (tmp_path / "d.toml").write_text(third, encoding="utf-8")
    study = read_study(tmp_path / "d.toml")
    _, points = combinations(spec, study.grid, study.job.settings, study.seeds)
    assert len(points) == 18
    assert spec.trace(study.metric)


def test_no_registry_is_named_anywhere():
    """Where packages come from is the business of the machine, not of the project."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("needs a git checkout")
    words = [
        "".join(parts)
        for parts in (("pypi", ".org"), ("python", "hosted"), ("index", "-url"), ("conda", ".anaconda"))
    ]
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if (
            not name
            or not path.is_file()
            or path.suffix
            not in {
                "",
                ".toml",
                ".cfg",
                ".ini",
                ".txt",
                ".lock",
                ".sh",
                ".md",
                ".py",
                ".json",
                ".yml",
                ".yaml",
            }
        ):
            continue
        text = path.read_text(encoding="utf-8", errors="ignore")
        for word in words:
            assert word not in text, f"{name} names {word}"


def test_python_example_of_the_readme_compiles():
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    compile(code, "README.md", "exec")
    assert sys.version_info >= (3, 11)


def test_transformations_and_plugin_commands_are_documented():
    from plaidwork.core.cli.options import command_parser
    from plaidwork.core.data.transforms import TRANSFORMS

    for name in TRANSFORMS:
        assert f"`{name}`" in COMMAND_LINE, name
    help_text = command_parser()._subparsers._group_actions[0].choices["plugin"].format_help()
    for action in re.findall(r"^    ([a-z]+)\b", help_text, re.MULTILINE):
        assert f"plugin {action}" in COMMAND_LINE, action


def test_every_kind_of_view_is_documented():
    from plaidwork.core.contract.view_kinds import VIEW_KINDS

    for name in VIEW_KINDS:
        assert f"| `{name}` |" in PLUGINS, name


def test_what_names_a_failing_plugin_is_documented():
    from plaidwork.core.contract.plugin_fault import PluginFault
    from plaidwork.core.contract.plugin_info import STATES
    from plaidwork.core.plugins import folder, switches
    from plaidwork.core.plugins.deprecation import PlaidworkDeprecationWarning

    for name in (*PluginFault.__dataclass_fields__, PlaidworkDeprecationWarning.__name__, folder.VARIABLE):
        assert f"`{name}`" in PLUGINS, name
    for state in STATES:
        assert f"*{state}*" in PLUGINS, state
    assert switches.VARIABLE in PLUGINS


def test_the_picture_of_the_documents_is_drawn():
    """The code of the section is what a plugin may write: a factory that a hook returns, and what it loads."""
    (code,) = re.findall(r"```python\n(from plaidwork.core.api_pictures.*?)```", PLUGINS, re.DOTALL)
    plugin = ModuleType("sorted_means")
    plugin.np, plugin.hookimpl = np, api.hookimpl
    exec(compile(code, "docs/plugins.md", "exec"), vars(plugin))
    (factory,) = plugin.plaidwork_views()
    choices = api_pictures.ViewChoices({"order": "given"})
    picture = factory.load(SimpleNamespace(array=lambda name: np.array([1.5, -2.0])), choices)
    assert [choice.value for choice in choices.declared] == ["given"]
    mark = picture.panels[0].marks[0]
    assert (mark.text(1), mark.items(1)) == ("feature 2: -2", ("column", (1,)))
    assert api_pictures.describe(picture).splitlines()[2:] == ["1\t1.5", "2\t\u22122"]


def test_the_custom_view_of_the_documents_is_drawn():
    """The code of the section is what a plugin may write: a factory that a hook returns."""
    (code,) = re.findall(r"```python\n(def make\(results.*?)```", PLUGINS, re.DOTALL)
    plugin = ModuleType("dial")
    plugin.ViewFactory, plugin.hookimpl = api.ViewFactory, api.hookimpl
    exec(compile(code, "docs/plugins.md", "exec"), vars(plugin))
    (factory,) = plugin.plaidwork_views()
    assert (factory.id, factory.make) == ("example.dial", plugin.make)
