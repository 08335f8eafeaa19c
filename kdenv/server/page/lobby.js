// The lobby: tables with free seats, games that run with a small live picture, and those that ended last.

import { get } from "./api.js";
import { called, el, names, when } from "./parts.js";

const PAUSE = 4000; // milliseconds between two looks
const FEW = 12; // games of each kind that are shown at first
const MOST = 100; // that are shown at all

export async function showLobby(main, signal) {
  const lists = [
    new List("waiting", "Open tables", "no table waits for players"),
    new List("running", "Running games", "no game runs"),
    new List("over", "Finished games", "no game is over yet"),
  ];
  main.append(
    el("div", { class: "row" }, el("h1", {}, "Tables"), el("a", { href: "#/new", class: "button main" }, "set up a table")),
    ...lists.map((each) => each.element),
  );
  while (!signal.aborted) {
    await Promise.all(lists.map((each) => each.look(signal)));
    await new Promise((go) => { setTimeout(go, PAUSE); signal.addEventListener("abort", go); });
  }
}

// The games of one status. What has not changed since the last look is left alone, with the focus that it may have.
class List {
  constructor(status, title, none) {
    Object.assign(this, { status, title, none, size: FEW, drawn: new Map() });
    this.heading = el("h2", {}, title);
    this.cards = el("div", { class: "cards" });
    this.more = el("button", { type: "button", hidden: true, onclick: () => { this.size = MOST; this.look(); } }, "show more");
    this.element = el("section", { "aria-label": title }, this.heading, this.cards, this.more);
  }

  async look(signal) {
    const { games, total } = await get(`/games?status=${this.status}&size=${this.size}`, { signal });
    this.heading.textContent = total > games.length ? `${this.title} (${games.length} of ${total})` : this.title;
    this.more.hidden = total <= games.length || this.size === MOST;
    const keys = games.map((game) => JSON.stringify(game));
    if (keys.join() === [...this.drawn.keys()].join() && this.cards.childElementCount) return;
    const focused = this.cards.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    this.drawn = new Map(keys.map((key, i) => [key, this.drawn.get(key) || card(games[i])]));
    this.cards.replaceChildren(...(games.length ? this.drawn.values() : [el("p", { class: "muted" }, this.none)]));
    if (focused) this.cards.querySelector(`a[href="${focused}"]`)?.focus();
  }
}

function card(game) {
  const address = `#/games/${game.id}`;
  const title = game.called || game.game;
  return el("article", { class: "card" },
    game.status === "running" && game.step !== null
      ? el("img", { class: "small", alt: `${title} now`, src: `/api/v1/games/${game.id}/steps/${game.step}/picture.svg`, loading: "lazy" })
      : null,
    el("h3", {}, el("a", { href: address }, called(title)), game.called ? el("span", { class: "muted" }, ` ${game.game}`) : null),
    el("p", { class: "muted" }, names(game), game.result ? ` — ${game.result.scores.join(" : ")}` : "", el("br"), when(game.updated)));
}
