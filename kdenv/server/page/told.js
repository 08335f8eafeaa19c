// What has happened, in words of the game: the list beside the board, what a screen reader says, and the summary of a round.

import { named } from "./board.js";
import { called, el } from "./parts.js";

const LINES = 200; // that are shown at most
const SPOKEN = 8; // events that a screen reader is told at once, at most

export class Log {
  // `go` is called with the step of a line of this game that is clicked.
  constructor(game, go) {
    Object.assign(this, { game, go, events: [], names: [], mine: [] });
    this.list = el("ol", { class: "events", tabindex: 0, "aria-label": "what has happened" });
    this.spoken = el("p", { class: "spoken", "aria-live": "polite" });
  }

  forget() {
    this.events = [];
  }

  get length() {
    return this.events.length;
  }

  // Adds events that follow on those known. Others are left alone.
  add(events) {
    const fresh = events.filter((event) => event.event >= this.events.length);
    if (fresh.length && fresh[0].event === this.events.length) this.events.push(...fresh);
  }

  // Shows what was added since `before` events. Seats have these names; the person at this browser plays the seats of `mine`.
  show(before, names, mine) {
    Object.assign(this, { names, mine: mine.length === 1 ? mine : [] }); // two people at one browser have names
    if (before === this.events.length && this.list.childElementCount) return;
    const lines = this.events.flatMap((event) => event.told.map((line) => [event, line]));
    this.list.replaceChildren(...lines.slice(-LINES).reverse().map(([event, line]) => el("li", { "data-step": event.event + 1 },
      el("a", { href: `#/games/${this.game}/${event.event + 1}`, title: event.words || "", onclick: (click) => { click.preventDefault(); this.go(event.event + 1); } }, this.words(line)))));
    const fresh = before ? lines.filter(([event, line]) => event.event >= before && !mine.includes(line.seat)) : [];
    if (fresh.length) this.spoken.textContent = fresh.slice(-SPOKEN).map(([, line]) => el("p", {}, this.words(line)).textContent).join(". ");
  }

  words({ seat, words }) {
    const text = named(words, this.names);
    if (seat === null) return [text.charAt(0).toUpperCase() + text.slice(1)];
    return [badge(seat), this.mine.includes(seat) ? "You" : called(this.names[seat]), ` ${this.mine.includes(seat) ? text.replace(/^was /, "were ").replace(/^leads /, "lead ") : text}`];
  }

  // The summaries of rounds that have ended since `before` events: [{step, words}, ...].
  summaries(before) {
    return this.events.slice(before).flatMap((event) => event.told.filter((line) => line.summary).map((line) => ({ step: event.event, words: named(line.summary, this.names) })));
  }

  // Marks the line that led to this step, and brings it into view.
  mark(step, isNow) {
    const lines = [...this.list.children];
    const at = isNow ? null : lines.find((each) => Number(each.dataset.step) <= step);
    for (const each of lines) each.classList.toggle("shown", each === at);
    if (at) this.list.scrollTop = at.offsetTop - this.list.clientHeight / 2;
  }
}

// The mark of a seat, in its colour.
export function badge(seat) {
  return el("span", { class: "badge", "data-seat": seat, "aria-hidden": "true" }, String(seat));
}

// Gives all marks of seats their colours, with letters that can be read on them.
export function colourBadges(place, colours) {
  for (const each of place.querySelectorAll(".badge")) {
    const colour = colours[each.dataset.seat] || "#555555";
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    each.style.setProperty("--seat", colour);
    each.style.setProperty("--on-seat", 0.3 * red + 0.6 * green + 0.1 * blue > 150 ? "#000" : "#fff");
  }
}
