"""Leagues: how they are described, which games are played and kept, and what the standings say."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from models import random_model

from kdenv.arena import League, Match, Result, Standings, league, merge, play, read, read_league
from kdenv.arena.resume import path_in
from kdenv.cli import main
from kdenv.core.errors import BadOption, BadRecord, KdenvError
from kdenv.core.view import View

SMALL = {"options": {"size": 3}, "deals": 12, "seed": 5}
THREE = League("kingdomino", ["random", "full_greedy", "gprd"], **SMALL)

FILE = """
game = "kingdomino"
kind = "gauntlet"
challengers = ["search"]
deals = 3
players = 2
seed = 7
budget = "playouts=8"
anchor = "random"

[policies]
random = "random"
greedy = "full_greedy"
search = "mce"

[options]
size = 3
"""


def lines(folder: Path) -> dict[str, list[str]]:
    """The content of each file of a folder, without the seconds of its games."""
    found = {}
    for path in sorted(folder.glob("*.jsonl")):
        first, *games = path.read_text(encoding="utf-8").splitlines()
        found[path.name] = [first, *sorted(json.dumps({**json.loads(game), "seconds": None, "pace": None}) for game in games)]
    return found


def numbers(standings: Standings) -> object:
    """The text of standings, without times."""
    said = standings.as_json()
    rows = [{**row, "seconds_per_turn": None} for row in said["policies"]]
    return json.loads(json.dumps([rows, said["pairs"]]), parse_float=lambda number: round(float(number), 6))


def written(folder: Path, text: str) -> Path:
    path = folder / "league.toml"
    path.write_text(text, encoding="utf-8")
    return path


# What a file says


def test_a_file_is_read(tmp_path: Path) -> None:
    found = read_league(written(tmp_path, FILE))
    assert found.names == ["random", "greedy", "search"]
    assert found.texts == ["random", "full_greedy", "mce(playouts=8)"]
    assert (found.kind, found.deals, found.seed, found.anchor, found.options) == ("gauntlet", 3, 7, "random", {"size": 3})
    assert found.describe() == "kingdomino, 2 players size=3: 3 policies, gauntlet, 3 deals a table, playouts=8, seed 7"


MISTAKES = [
    ('game = "kingdomino', "is not TOML: "),
    ('policies = ["random"]', "the key game is missing"),
    ('game = "kingdomino"', "the key policies is missing"),
    ('game = "kingdom"\npolicies = ["random", "gprd"]', "there is no game kingdom"),
    ('game = "kingdomino"\npolicies = ["random", "grpd"]', "there is no policy grpd"),
    ('game = "kingdomino"\npolicies = "random"', "policies=random is not possible; policies is a list of policies, or a table of names"),
    ('game = "kingdomino"\npolicies = ["random", 3]', "3 is no policy; a policy is a text"),
    ('game = "kingdomino"\npolicies = ["random", "random"]', "random is listed twice"),
    ('game = "kingdomino"\n[policies]\na = "random"\nb = "random"', "a and b are the same policy, random"),
    ('game = "kingdomino"\npolicies = ["random"]', "a table needs 2 policies, and this league has 1"),
    ('game = "kingdomino"\nplayers = 4\npolicies = ["random", "gprd"]', "a table needs 4 policies, and this league has 2"),
    ('game = "dominion"\nplayers = 1\npolicies = ["random", "mce"]', "has no two teams, so nobody can meet"),
    ("deal = 3", r"deal is no key of a league \(did you mean deals\?\); its keys are game, policies, kind"),
    ("deals = 0", "deals=0 is not possible; deals is a whole number from 1 to"),
    ("deals = 2.5", r"deals=2\.5 is not possible; deals is a whole number"),
    ("deals = true", "deals=True is not possible; deals is a whole number"),
    ('seed = "x"', "seed=x is not possible; seed is a whole number"),
    ("seed = -1", "seed=-1 is not possible; seed is a whole number from 0 to"),
    ("players = 7", "kingdomino cannot be played by 7 players"),
    ('kind = "swis"', r"kind=swis is not possible \(did you mean swiss\?\); kind may be round robin, gauntlet or swiss"),
    ('kind = "swiss"', "a swiss league needs rounds, as in rounds = 5"),
    ("rounds = 3", "only a swiss league has rounds; this one is a round robin league"),
    ('kind = "gauntlet"', "a gauntlet league needs challengers, who meet all others"),
    ('challengers = ["gprd"]', "only a gauntlet league has challengers"),
    (
        'kind = "gauntlet"\nchallengers = ["grpd"]',
        r"grpd is no policy of this league \(did you mean gprd\?\); its policies are random, gprd",
    ),
    ('kind = "gauntlet"\nchallengers = "gprd"', "challengers=gprd is not possible; challengers is a list of names"),
    ('kind = "swiss"\nrounds = 2\nmeetings = 2', "a swiss league has no meetings"),
    ("meetings = 2", "meetings=2 is not possible; two of 2 policies can meet at 1 tables"),
    ('anchor = "me"', "me is no policy of this league; its policies are random, gprd"),
    ('budget = "10ms"', "no policy of this league is a search without a budget of its own, so budget=10ms is of no use"),
    (f"deals = {'9' * 5000}", "is not TOML: Exceeds the limit"),
    (f"deals = {'[' * 100_000}", "is not TOML: maximum recursion depth exceeded"),
    ("budget = 3", "budget=3 is not possible; budget is a text"),
    ("options = 3", "options=3 is not possible; options is a table of names and values"),
    ("[options]\nsize = 4", "size"),
    ("[options]\nsizes = 3", "kingdomino has no option sizes"),
]


@pytest.mark.parametrize("text, sentence", MISTAKES)
def test_every_mistake_is_one_sentence(text: str, sentence: str, tmp_path: Path, capsys) -> None:
    whole = text if "game =" in text or "policies =" in text else f'game = "kingdomino"\npolicies = ["random", "gprd"]\n{text}'
    path = written(tmp_path, whole)
    with pytest.raises(KdenvError, match=sentence):
        read_league(path).check()
    assert main(["league", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("kdenv: ")
    assert said.count("\n") == 1


def test_the_match_of_a_table_does_not_depend_on_the_order_of_the_league() -> None:
    turned = League("kingdomino", ["gprd", "full_greedy", "random"], **SMALL)
    assert THREE.match((0, 1)) == turned.match((1, 2))
    assert THREE.match((0, 1)).seed != THREE.match((0, 2)).seed


def test_the_seed_of_a_league_is_that_of_its_deals() -> None:
    assert THREE.match((0, 1)).seed != replace(THREE, seed=6).match((0, 1)).seed


def test_in_a_team_game_a_policy_plays_its_partners(tmp_path: Path) -> None:
    plan = League("dominoes", ["greedy", "random"], deals=10, seed=1)
    assert plan.match((0, 1)).line_up == ["greedy", "random", "greedy", "random"]
    standings = league(plan, processes=1)
    assert standings.games == 40
    first, last = standings.rows()
    assert first.policy == "greedy"
    assert first.wins.mean + last.wins.mean == pytest.approx(1.0)
    assert first.margin.mean == -last.margin.mean


README = Path(__file__).parents[2] / "kdenv" / "arena" / "README.md"
TOML = re.findall(r"^```toml\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", TOML, ids=["round robin", "gauntlet", "swiss"])
def test_every_file_of_the_readme_can_be_played(text: str, tmp_path: Path) -> None:
    quick = re.sub(r"playouts=\d+", "playouts=2", text).replace("deals = 50", "deals = 1")
    plan = replace(read_league(written(tmp_path, quick)), deals=1)
    standings = league(plan, processes=1)
    assert standings.games == standings.expected > 0


# What is played and kept


def test_standings_are_those_of_the_matches(tmp_path: Path) -> None:
    standings = league(THREE, tmp_path, processes=1)
    assert standings.games == standings.expected == 3 * 24
    match = Match("kingdomino", ["full_greedy", "random"], 24, THREE.match((0, 1)).seed, {"size": 3})
    results: list[Result] = []
    play(match, processes=1, on_result=results.append)
    assert standings.against(1, 0).mean == pytest.approx(sum(result.wins[0] for result in results) / 24)
    assert standings.against(0, 1).mean == pytest.approx(1 - standings.against(1, 0).mean)
    assert numbers(league(THREE, processes=1)) == numbers(standings)
    assert [row.place for row in standings.rows()] == [1, 2, 3]
    assert sum(estimate.mean for estimate in standings.ratings.estimates) == pytest.approx(0.0, abs=1e-6)


def test_one_more_policy_plays_only_what_is_missing(tmp_path: Path) -> None:
    league(THREE, tmp_path, processes=1)
    before = lines(tmp_path)
    four = League("kingdomino", {"gprd": "gprd", "new": "mce(playouts=4)", "greedy": "full_greedy", "random": "random"}, **SMALL)
    standings = league(four, tmp_path, processes=1)
    after = lines(tmp_path)
    assert {name: after[name] for name in before} == before
    assert len(after) == 6
    assert standings.games == 6 * 24
    assert numbers(standings) == numbers(league(four, processes=1))


def test_an_interrupted_league_keeps_its_games_and_goes_on(tmp_path: Path) -> None:
    def stop(standings: Standings) -> None:
        if standings.games == 30:
            raise KeyboardInterrupt

    cut = league(THREE, tmp_path / "cut", processes=1, on_result=stop)
    assert cut.interrupted
    assert cut.games == 30
    assert sum(len(games) - 1 for games in lines(tmp_path / "cut").values()) == 30
    whole = league(THREE, tmp_path / "whole", processes=1)
    assert not whole.interrupted
    again = league(THREE, tmp_path / "cut", processes=1)
    assert lines(tmp_path / "cut") == lines(tmp_path / "whole")
    assert numbers(again) == numbers(whole)


def test_two_machines_play_a_part_each_and_merge(tmp_path: Path) -> None:
    for number in (1, 2):
        league(THREE, tmp_path / str(number), part=(number, 2), processes=1)
    assert sum(len(games) - 1 for games in lines(tmp_path / "1").values()) == 36
    assert merge(THREE, tmp_path / "1", tmp_path / "2") == (36, 0)
    assert merge(THREE, tmp_path / "1", tmp_path / "2") == (0, 36)
    whole = league(THREE, tmp_path / "whole", processes=1)
    assert lines(tmp_path / "1") == lines(tmp_path / "whole")
    assert numbers(league(THREE, tmp_path / "1", plays=False)) == numbers(whole)


def test_a_part_is_every_second_deal_in_all_its_rotations(tmp_path: Path) -> None:
    plan = League("kingdomino", ["random", "full_greedy"], options={"size": 3}, deals=3)
    for part, deals in ((1, [0, 0, 2, 2]), (2, [1, 1])):
        standings = league(plan, tmp_path / str(part), part=(part, 2), processes=1)
        assert read(tmp_path / str(part))["deal"][::2].tolist() == deals
        assert standings.expected == len(deals)


def test_a_league_that_is_only_rated_plays_nothing(tmp_path: Path) -> None:
    plan = League("kingdomino", ["random", "full_greedy"], options={"size": 3}, deals=3)
    league(plan, tmp_path, part=(1, 2), processes=1)
    assert league(plan, tmp_path, plays=False).games == 4


def test_deals_that_a_league_does_not_play_are_not_merged(tmp_path: Path) -> None:
    """A folder of the same policies with more deals is one of the same league; games 0 to 3 are its first two deals."""
    plan = League("kingdomino", ["random", "full_greedy"], options={"size": 3}, deals=2)
    league(replace(plan, deals=3), tmp_path / "more", processes=1)
    assert merge(plan, tmp_path / "here", tmp_path / "more") == (4, 2)
    assert sorted(read(tmp_path / "here")["number"][::2].tolist()) == [0, 1, 2, 3]


def test_a_match_has_a_file_of_its_own(tmp_path: Path) -> None:
    """Whatever tells two matches apart tells their files apart; the number of games and the order of the options do not."""
    match = Match("kingdomino", ["random", "full_greedy"], games=4, seed=1, options={"size": 3, "harmony": False})
    others = [
        replace(match, game="three_shells"),
        replace(match, line_up=["random", "gprd"]),
        replace(match, seed=2),
        replace(match, options={"size": 3, "harmony": True}),
        replace(match, options={"size": 3}),
        replace(match, luck="learned(kingdomino)"),
    ]
    assert len({path_in(tmp_path, each) for each in (match, *others)}) == 7
    same = replace(match, games=8, options={"harmony": False, "size": 3})
    assert path_in(tmp_path, same) == path_in(tmp_path, match)


def test_a_file_merges_and_a_cut_line_is_left_out(tmp_path: Path) -> None:
    league(THREE, tmp_path / "there", processes=1)
    path = sorted((tmp_path / "there").glob("*.jsonl"))[0]
    path.write_bytes(path.read_bytes()[:-30])
    before = path.read_bytes()
    assert merge(THREE, tmp_path / "here", path) == (23, 0)
    assert path.read_bytes() == before
    assert league(THREE, tmp_path / "here", plays=False).games == 23


@pytest.mark.parametrize(
    "change, sentence",
    [
        (lambda text: text.replace('"size": 3', '"size": 5'), "has no games of this league"),
        (lambda text: text.replace('"kdenv": "', '"kdenv": "9.'), "was written with another kdenv"),
        (lambda text: text.replace('"number": 0', '"number": -1'), "line 2 of .* is damaged"),
        (lambda text: "nonsense\n", "has no games of this league"),
    ],
)
def test_what_cannot_be_merged_is_told(change, sentence: str, tmp_path: Path) -> None:
    plan = League("kingdomino", ["random", "full_greedy"], **SMALL)
    league(plan, tmp_path / "there", processes=1)
    (path,) = (tmp_path / "there").glob("*.jsonl")
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises((BadOption, BadRecord), match=sentence):
        merge(plan, tmp_path / "here", tmp_path / "there")


def test_games_of_another_model_of_the_same_name_are_not_merged(tmp_path: Path) -> None:
    random_model(tmp_path / "model.npz", "kingdomino", seed=1)
    plan = League("kingdomino", ["random", "gprd", "full_greedy", f"learned({tmp_path / 'model.npz'})"], deals=1, players=4)
    league(plan, tmp_path / "there", processes=1)
    random_model(tmp_path / "model.npz", "kingdomino", seed=2)
    with pytest.raises(BadRecord, match=r"the results of another .*model.npz: here the file is another one, so it cannot be merged"):
        merge(plan, tmp_path / "here", tmp_path / "there")


def test_nothing_to_merge_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="nowhere is not there; give a folder"):
        merge(THREE, tmp_path, tmp_path / "nowhere")


def test_games_of_other_leagues_in_the_folder_are_let_be(tmp_path: Path) -> None:
    other = League("kingdomino", ["random", "full_greedy"], options={"size": 3}, deals=12, seed=6)
    league(other, tmp_path, processes=1)
    (tmp_path / "notes.jsonl").write_text("not ours\n", encoding="utf-8")
    assert league(THREE, tmp_path, processes=1).games == 3 * 24


def test_swiss_rounds_seat_those_who_stand_near_each_other(tmp_path: Path) -> None:
    names = ["random", "full_greedy", "gprd", "mce(playouts=4)"]
    plan = League("kingdomino", names, kind="swiss", rounds=2, **SMALL)
    standings = league(plan, tmp_path, processes=1)
    assert standings.games == 2 * 2 * 24
    first = {(0, 1), (2, 3)}
    assert all(standings.games_against(*pair) == 24 for pair in first)
    winners = [one if standings.against(one, other).mean > 0.5 else other for one, other in sorted(first)]
    assert standings.games_against(*winners) == 24
    assert numbers(league(plan, tmp_path, processes=1)) == numbers(standings)
    with pytest.raises(BadOption, match="cannot be played in parts"):
        league(plan, tmp_path, part=(1, 2))


def test_at_tables_of_three_all_meet(tmp_path: Path) -> None:
    plan = League("kingdomino", ["random", "full_greedy", "gprd", "mce(playouts=4)"], players=3, options={"size": 3}, deals=4)
    standings = league(plan, tmp_path, processes=1)
    assert standings.games == len(lines(tmp_path)) * 12
    assert min(standings.games_against(one, other) for one in range(4) for other in range(one)) >= 12
    assert "policies" in standings.as_json()


def test_functions_play_in_a_league_of_python(tmp_path: Path) -> None:
    def first(view: View) -> int:
        return view.legal()[0]

    standings = league(League("kingdomino", {"first": first, "greedy": "full_greedy"}, **SMALL), processes=1)
    assert [row.policy for row in standings.rows()] == ["greedy", "first"]
    with pytest.raises(BadOption, match=r"first cannot be written to a file; make it known with kdenv\.add_policy"):
        league(standings.plan, tmp_path)


# What is said


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[League, Path]]:
    folder = tmp_path_factory.mktemp("league")
    league(THREE, folder, processes=1)
    yield THREE, folder


def test_the_table_ranks_the_policies(played: tuple[League, Path]) -> None:
    standings = league(*played, plays=False)
    heading, explanation, _, titles, *rows = str(standings).splitlines()
    assert heading.endswith("seed 5; 72 games at 3 tables")
    assert "the mean is 0" in explanation
    assert titles.split()[0] == "policy"
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert rows[2].split()[1] == "random"
    assert "█" not in str(standings)
    assert "█" in standings.text(bars=True)
    assert "<table>" in standings._repr_html_()


def test_json_has_no_number_that_json_lacks(played: tuple[League, Path]) -> None:
    text = json.dumps(league(*played, plays=False).as_json(), allow_nan=False)
    found = json.loads(text)
    assert {row["policy"] for row in found["policies"]} == set(THREE.names)
    assert len(found["pairs"]) == 3
    assert json.dumps(Standings(THREE).as_json(), allow_nan=False)


def test_standings_of_nothing() -> None:
    assert str(Standings(THREE)).endswith("No game is finished yet.")


def test_whoever_won_everything_is_at_least_so_strong() -> None:
    standings = Standings(League("kingdomino", {"<best>": "full_greedy", "worst": "random"}, deals=20))
    for number in range(40):
        result = Result(number, number // 2, [30, 10], [20, -20], [1.0, 0.0], [0.1, 0.1], [24, 24], [0, 0], "")
        standings.add((0, 1), result)
    best, worst = str(standings).splitlines()[-2:]
    assert "+0" in best
    assert "at most -" in worst
    assert "a policy that won, or lost, all these games has only one end" in str(standings)
    assert json.loads(json.dumps(standings.as_json(), allow_nan=False))["policies"][1]["rating"]["low"] is None
    assert "&lt;best&gt;" in standings._repr_html_()


# The command


def test_the_command_plays_keeps_and_merges(tmp_path: Path, capsys) -> None:
    path = written(tmp_path, FILE)
    assert main(["league", str(path), "--processes", "1"]) == 0
    said = capsys.readouterr().out
    assert "12 games at 2 tables" in said
    assert "random has 0" in said
    shutil.move(tmp_path / "league", tmp_path / "other")
    assert main(["league", str(path), "--merge", str(tmp_path / "other"), "--only-rate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 12
    assert main(["league", str(path), "--merge", str(tmp_path / "other"), "--only-rate"]) == 0
    assert "0 games are new, 12 were there already" in capsys.readouterr().out


@pytest.mark.parametrize("part", ["0/2", "3/2", "1", "1/0", "a/b"])
def test_what_is_no_part_is_told(part: str, tmp_path: Path, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["league", str(written(tmp_path, FILE)), "--part", part])
    assert f"{part} is no part; write 1/2 for the first of two" in capsys.readouterr().err


def test_an_interrupted_command_says_how_to_go_on(tmp_path: Path, monkeypatch, capsys) -> None:
    path = written(tmp_path, FILE)
    add = Standings.add

    def stop(self: Standings, table: tuple[int, ...], result: Result) -> None:
        add(self, table, result)
        if self.games == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(Standings, "add", stop)
    assert main(["league", str(path), "--processes", "1"]) == 130
    said = capsys.readouterr()
    assert f"interrupted after 5 games; the same command goes on from {tmp_path / 'league'}" in said.err
    assert "; 5 of 12 games at 1 tables\n" in said.out
    assert "nan" not in said.out
    assert "No game of greedy is finished yet." in said.out
    (idle,) = (line.split() for line in said.out.splitlines() if line.split()[1:2] == ["greedy"])
    assert idle[2:] == ["no", "games", "yet", "-", "-", "-", "-", "0"]
    monkeypatch.setattr(Standings, "add", add)
    assert main(["league", str(path), "--processes", "1"]) == 0
    assert "12 games" in capsys.readouterr().out


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path, capsys) -> None:
    path = written(tmp_path, FILE)
    assert main(["league", str(path), "--out", str(path)]) == 2
    assert "is a file; the games of a league need a folder" in capsys.readouterr().err


def test_bars_are_drawn_on_terminals_that_want_them(tmp_path: Path, monkeypatch, capsys) -> None:
    path = written(tmp_path, FILE)
    for name, value, has_bars in (("FORCE_COLOR", "1", True), ("NO_COLOR", "1", False)):
        monkeypatch.setenv(name, value)
        assert main(["league", str(path), "--processes", "1"]) == 0
        assert ("█" in capsys.readouterr().out) is has_bars
        assert main(["match", "kingdomino", "full_greedy", "random", "--games", "4", "--processes", "1"]) == 0
        assert ("█" in capsys.readouterr().out) is has_bars
