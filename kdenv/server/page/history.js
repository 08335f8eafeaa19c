// What was played here: finished games by game and player, and how the players did.

import { get } from "./api.js";
import { called, el, names, table, tried, when } from "./parts.js";

export async function showHistory(main, signal) {
  const { games } = await get("/rules", { signal });
  const game = el("select", { "aria-label": "game", onchange: () => { kind.replaceChildren(); show(1); } }, games.map((each) => el("option", { value: each.game }, each.title)));
  const kind = el("select", { "aria-label": "kind of table", onchange: () => show(1) });
  const player = el("input", { "aria-label": "player", placeholder: "all players", maxlength: 40 });
  const found = el("div", {});
  main.append(el("h1", {}, "History"),
    el("form", { class: "row", onsubmit: (event) => { event.preventDefault(); show(1); } }, game, kind, player, el("button", { type: "submit" }, "show")), found);
  const show = tried(async (page) => {
    const query = `game=${game.value}${player.value.trim() ? `&player=${encodeURIComponent(player.value.trim())}` : ""}`;
    const [list, told] = await Promise.all([
      get(`/games?status=over&size=20&page=${page}&${query}`, { signal }), get(`/statistics?game=${game.value}&table=${encodeURIComponent(kind.value)}`, { signal })]);
    kind.replaceChildren(...told.tables.map((each) => el("option", { value: each.table, selected: each.table === told.table }, `${each.table} (${each.games})`)));
    kind.hidden = !told.tables.length;
    const last = Math.max(1, Math.ceil(list.total / list.size));
    const turn = (words, to) => el("button", { type: "button", disabled: to < 1 || to > last, onclick: () => show(to) }, words);
    found.replaceChildren(
      el("h2", {}, `${list.total} games`),
      table(["when", "players", "points"], list.games.map((each) =>
        [el("a", { href: `#/games/${each.id}` }, when(each.updated)), names(each), each.result.scores.join(" : ")])),
      el("div", { class: "row" }, turn("newer", page - 1), el("span", {}, `page ${page} of ${last}`), turn("older", page + 1)),
      el("h2", {}, `Players and programs (${told.table ? `${told.table}: ` : ""}${told.games} games, 95 % intervals)`),
      table(["name", "games", "won", "margin", "points"], told.players.map((each) =>
        [called(each.name), String(each.games), text(each.wins, 100, " %"), text(each.margin), text(each.score)])),
      el("h2", {}, "Head to head"),
      table(["name", "ahead of", "games", "share"], told.pairs.slice(0, 40).map((each) =>
        [called(each.name), called(each.rival), String(each.games), text(each.ahead, 100, " %")])));
  });
  await show(1);
}

function text(estimate, factor = 1, unit = "") {
  const number = (value) => (value * factor).toFixed(1);
  if (estimate.mean === null) return "";
  return `${number(estimate.mean)}${unit}` + (estimate.low === null ? " (few games)" : ` [${number(estimate.low)}, ${number(estimate.high)}]`);
}
