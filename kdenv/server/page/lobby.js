// The lobby: tables with free seats, games that run with a small live picture, and those that ended last.

import { get, isBusy, keepSeat, myGames, myName, post, seatsOf } from "./api.js";
import { isDark } from "./board.js";
import { called, el, names, tried, when } from "./parts.js";

const PAUSE = 4000; // milliseconds between two looks
const FEW = 12; // games of each kind that are shown at first
const MOST = 100; // that are shown at all

export async function showLobby(main, signal) {
  const lists = [
    new Mine(),
    new List("waiting", "Open tables", "no table waits for players"),
    new List("running", "Running games", "no game runs"),
    new List("over", "Finished games", "no game is over yet"),
  ];
  main.append(el("div", { class: "row" }, el("h1", {}, "Tables"), el("a", { href: "#/new", class: "button main" }, "set up a table")));
  let pause = PAUSE;
  while (!signal.aborted) {
    try {
      await Promise.all(lists.map((each) => each.look(signal)));
      pause = PAUSE;
    } catch (error) {
      if (!isBusy(error)) throw error;
      pause = Math.min(60000, 2 * pause);
    }
    if (!main.contains(lists[0].element)) main.append(...lists.map((each) => each.element)); // all at once, so that nothing moves
    await new Promise((go) => { setTimeout(go, pause); signal.addEventListener("abort", go); });
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
    this.show(games);
  }

  show(games) {
    const keys = games.map((game) => JSON.stringify(game));
    if (keys.join() === [...this.drawn.keys()].join() && this.cards.childElementCount) return;
    const focused = this.cards.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    this.drawn = new Map(keys.map((key, i) => [key, this.drawn.get(key) || card(games[i])]));
    this.cards.replaceChildren(...(games.length ? this.drawn.values() : this.none ? [el("p", { class: "muted" }, this.none)] : []));
    if (focused) this.cards.querySelector(`a[href="${focused}"]`)?.focus();
  }
}

// The games of this browser that are not over. Those in which it is this person's turn come first.
class Mine extends List {
  constructor() {
    super("", "Your games", "");
    this.more.remove();
    this.element.hidden = true;
  }

  async look(signal) {
    const found = await Promise.all(myGames().slice(-FEW).map((id) => get(`/games/${id}`, { signal }).catch((error) => {
      if (error.status !== 404) throw error;
      localStorage.removeItem(`kdenv ${id}`); // the table was cancelled
      return null;
    })));
    const open = found.filter((game) => game && game.status !== "over");
    const isMine = (game) => seatsOf(game.id).some((each) => each.seat === game.turn);
    this.element.hidden = !open.length;
    this.show(open.sort((a, b) => isMine(b) - isMine(a)));
    for (const [i, game] of open.entries()) this.cards.children[i].classList.toggle("turn", isMine(game));
  }
}

function card(game) {
  const address = `#/games/${game.id}`;
  const title = game.called || game.game;
  return el("article", { class: "card" },
    game.status === "running" && game.step !== null
      ? el("img", { class: "small", alt: `${title} now`, src: `/api/v1/games/${game.id}/steps/${game.step}/picture.svg${isDark() ? "?dark=true" : ""}`, loading: "lazy" })
      : null,
    el("h3", {}, el("a", { href: address }, called(title)), game.called ? el("span", { class: "muted" }, ` ${game.game}`) : null),
    game.status === "waiting" && !seatsOf(game.id).length ? el("button", { type: "button", onclick: tried(() => sit(game.id)) }, "sit down") : null,
    el("p", { class: "muted" }, names(game), game.result ? ` — ${game.result.scores.join(" : ")}` : "", el("br"), when(game.updated)));
}

// Joins a game by the name that was used last. Who has none yet gives it at the table.
async function sit(id) {
  if (myName()) {
    const { seat, token } = await post(`/games/${id}/join`, { name: myName() });
    keepSeat(id, seat, token);
  }
  location.hash = `#/games/${id}`;
}
