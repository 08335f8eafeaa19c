// The lobby: tables with free seats, games that run with a small live picture, and those that ended last.

import { get } from "./api.js";
import { el, names, when } from "./parts.js";

const PAUSE = 4000; // milliseconds between two looks

export async function showLobby(main, signal) {
  const waiting = el("div", { class: "cards" });
  const running = el("div", { class: "cards" });
  const over = el("div", { class: "cards" });
  main.append(
    el("div", { class: "row" }, el("h1", {}, "Tables"), el("a", { href: "#/new" }, el("button", { class: "main" }, "set up a table"))),
    el("h2", {}, "Open tables"), waiting, el("h2", {}, "Running games"), running, el("h2", {}, "Finished games"), over,
  );
  while (!signal.aborted) {
    const [open, live, done] = await Promise.all(
      ["waiting", "running", "over"].map((status) => get(`/games?status=${status}&size=12`, { signal })));
    waiting.replaceChildren(...cards(open.games, "no table waits for players"));
    running.replaceChildren(...cards(live.games, "no game runs"));
    over.replaceChildren(...cards(done.games, "no game is over yet"));
    await new Promise((go) => { setTimeout(go, PAUSE); signal.addEventListener("abort", go); });
  }
}

function cards(games, none) {
  return games.length ? games.map(card) : [el("p", { class: "muted" }, none)];
}

function card(game) {
  const address = `#/games/${game.id}`;
  const title = game.called || game.game;
  return el("article", { class: "card" },
    game.status === "running" && game.step !== null
      ? el("img", { class: "small", alt: `${title} now`, src: `/api/v1/games/${game.id}/steps/${game.step}/picture.svg`, loading: "lazy" })
      : null,
    el("h3", {}, el("a", { href: address }, title), game.called ? el("span", { class: "muted" }, ` ${game.game}`) : null),
    el("p", { class: "muted" }, names(game), game.result ? ` — ${game.result.scores.join(" : ")}` : "", el("br"), when(game.updated)));
}
