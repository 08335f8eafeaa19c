"""Is everything that users write in their programs, files and command lines still there? tests/golden/surface.json lists it.

It lists environments, public names, games and their options, policies and their parameters, commands and their options, and the fields of
files. `python -m tests.house.test_surface` writes the file anew.
"""

import argparse
import inspect
import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parents[1] / "golden" / "surface.json"
ROOT = Path(__file__).parents[2]
REMEDY = (
    "If this is a mistake, mend it. If it is on purpose: tell it in CHANGELOG.md (and let the old name give a sentence that names the new "
    "one), then run `python -m tests.house.test_surface`, and look at what it changes in tests/golden/surface.json."
)
NEW = "tests/golden/surface.json does not list: {}. If users may rely on it, run `python -m tests.house.test_surface`."


def surface() -> dict[str, Any]:
    """Everything that users write, as it is now."""
    import gymnasium
    import pettingzoo

    import kdenv
    from kdenv.core.entry_points import GAMES, POLICIES
    from kdenv.envs.rewards import REWARDS
    from kdenv.policies.learned import shipped_models

    registries = {"Gymnasium": gymnasium.registry}
    if hasattr(pettingzoo, "register"):
        registries |= {"PettingZoo": pettingzoo.aec_registry, "PettingZoo, parallel": pettingzoo.parallel_registry}
    return {
        "environments": {name: sorted(id for id in registry if str(id).startswith("kdenv/")) for name, registry in registries.items()},
        "parameters of environments": {name: parameters_of(getattr(import_module("kdenv.envs"), name)) for name in ENVIRONMENTS},
        "public names": public_names(),
        "groups of entry points": [GAMES.name, POLICIES.name],
        "games": {name: about_game(kdenv.game(name)) for name in kdenv.games()},
        **policies(),
        "rewards": list(REWARDS),
        "models": list(shipped_models()),
        "commands": commands(),
        "fields of files": file_fields(),
    }


ENVIRONMENTS = ("SeatEnv", "SeatVecEnv", "SeatVectorEnv", "SelfPlay", "TableEnv")


def parameters_of(made: Any) -> dict[str, str]:
    return {name: "" if each.default is each.empty else repr(each.default) for name, each in inspect.signature(made).parameters.items()}


def public_names() -> dict[str, list[str]]:
    from public import ENVIRONMENTS, MODULES

    functions = {name: [each for each, of in vars(import_module(name)).items() if inspect.isfunction(of)] for name in ENVIRONMENTS}
    return {name: sorted(import_module(name).__all__) for name in MODULES} | functions


def about_game(game: Any) -> dict[str, Any]:
    return {
        "players": list(game.players),
        "options": {option.name: {"default": repr(option.default), "choices": list(map(repr, option.choices))} for option in game.options},
        "encodings": {encoding.name: encoding.version for encoding in game.encodings},
        "evaluations": list(game.knowledge.evaluators),
        "orders": list(game.knowledge.orders),
    }


def policies() -> dict[str, Any]:
    """All that texts of policies may hold: names with their parameters and defaults, and what the names of papers stand for."""
    import kdenv
    from kdenv.policies import Policy
    from kdenv.policies.players import rule_class
    from kdenv.policies.text.value import Value, classes, rows

    def written(cls: Any) -> dict[str, Any]:
        return {name: about_parameter(p) for name, p in cls.parameters().items()}

    of_games = {name: list(kdenv.game(name).knowledge.players) for name in kdenv.games()}
    players = {name: rule_class(name) for names in of_games.values() for name in names}
    return {
        "policies, playouts and selection rules": {cls.kind: written(cls) for cls in classes(Value)},
        "players of games": of_games,
        "parameters of players": {name: written(cls) for name, cls in players.items()},
        "policies of papers": {name: str(row.cls(**row.parameters)) for name, row in rows(Policy)},
    }


def about_parameter(p: Any) -> str:
    """The default of a parameter, as texts have it, and the words that it may be."""
    if p.default is MISSING:
        usual = "must be given"
    else:
        usual = "no default" if p.default is None else f"default {p.default if isinstance(p.default, str) else p.write(p.default)}"
    words = [*p.choices, *p.words]
    return f"{usual}; words {', '.join(words)}" if words else usual


def commands() -> dict[str, dict[str, str]]:
    from kdenv.cli import COMMANDS
    from kdenv.cli.arguments import Commands

    made = Commands()
    for command in COMMANDS:
        command.add(made)
    return {name: arguments(parser) for name, parser in made._commands.choices.items()}


def arguments(parser: argparse.ArgumentParser) -> dict[str, str]:
    """The arguments of a command: how many words each takes, its choices, and its default."""
    found = {}
    for each in parser._actions[1:]:  # without --help
        takes = f"takes {1 if each.nargs is None else each.nargs}"
        chosen = f", one of {list(each.choices)}" if each.choices else ""
        found[" ".join(each.option_strings) or each.dest] = f"{takes}{chosen}, default {each.default}"
    return found


def file_fields() -> dict[str, list[str]]:
    from kdenv.arena import League, Match, Result
    from kdenv.training import TrainingSettings

    return {of.__name__: [each.name for each in fields(of)] for of in (Match, Result, League, TrainingSettings) if is_dataclass(of)}


def leaves(tree: Any, path: str = "") -> dict[str, Any]:
    """Everything in a tree of mappings and lists: by what it is called, its value."""
    if isinstance(tree, dict):
        return {at: value for name, below in tree.items() for at, value in leaves(below, f"{path} > {name}" if path else name).items()}
    if isinstance(tree, list):
        return {f"{path} > {each}": True for each in tree}
    return {path: tree}


def complaint(golden: dict[str, Any], now: dict[str, Any]) -> str:
    """What is gone or different, what this means, and what to do; empty if nothing is."""
    listed, found = leaves(golden), leaves(now)
    gone = [name for name in listed if name not in found]
    changed = [f"{name} (was {value!r}, is {found[name]!r})" for name, value in listed.items() if name in found and found[name] != value]
    new = [name for name in found if name not in listed]
    if gone or changed:
        return f"{_listed('gone', gone)}{_listed('changed', changed)}programs, files or command lines of users break. {REMEDY}"
    return NEW.format("; ".join(new)) if new else ""


def _listed(what: str, names: Iterable[str]) -> str:
    return f"{what}: {'; '.join(names)}: " if names else ""


def test_what_users_write_is_still_there() -> None:
    """Asked in a process of its own, as other tests add games and policies."""
    command = [sys.executable, "-m", "tests.house.test_surface", "--print"]
    told = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, timeout=600)
    assert told.returncode == 0, told.stderr
    said = complaint(json.loads(FILE.read_text(encoding="utf-8")), json.loads(told.stdout))
    assert said == "", said


SMALL: dict[str, Any] = {"commands": {"match": {"--games": "takes 1, default 100"}}, "models": ["kingdomino"]}


@pytest.mark.parametrize(
    "now, words",
    [
        (SMALL, ""),
        ({**SMALL, "models": []}, "gone: models > kingdomino: programs, files or command lines of users break. If this is a mistake"),
        (
            {**SMALL, "commands": {"match": {"--games": "takes 1, default 50"}}},
            "changed: commands > match > --games (was 'takes 1, default 100', is 'takes 1, default 50'): programs,",
        ),
        ({**SMALL, "models": ["kingdomino", "new"]}, "tests/golden/surface.json does not list: models > new. If users may rely on it"),
    ],
)
def test_what_is_gone_changed_or_new_is_named(now: dict[str, Any], words: str) -> None:
    said = complaint(SMALL, now)
    assert said.startswith(words) and bool(said) == bool(words)


if __name__ == "__main__":
    sys.path.append(str(ROOT / "tests" / "support"))
    text = json.dumps(surface(), indent=1) + "\n"
    if sys.argv[1:] == ["--print"]:
        print(text)
    else:
        FILE.write_text(text, encoding="utf-8")
