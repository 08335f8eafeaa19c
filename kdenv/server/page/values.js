// What a search thinks that the positions of a game are worth to the seats that decide in them. The search is the viewer's; it is asked about
// one position after the other, some far apart first, so that the curve soon goes along the whole game.

import { ask } from "./api.js";
import { curveOf } from "./curve.js";
import { el, notice } from "./parts.js";

const STRIDE = 16; // every position of so many is asked about first

export class Values {
  // `search` is called for the text of the search, `go` with the step of a click.
  constructor(game, search, go, signal) {
    Object.assign(this, { game, search, go, signal, found: new Map(), asking: null, step: 0, drawn: null });
    this.start = el("button", { type: "button", onclick: () => this.toggle() }, "search along the game");
    this.told = el("span", { class: "muted", role: "status" });
    this.place = el("div", {});
    this.element = el("section", { hidden: true }, el("h2", {}, "Values along the game"), el("div", { class: "row" }, this.start, this.told), this.place);
  }

  // Tells which steps may be asked about, [{step, seat}, ...], how many steps there are, and who sits where.
  offer(decisions, steps, names, token, colours) {
    Object.assign(this, { decisions, steps, names, token, colours });
    this.element.hidden = !decisions.length;
    if (this.found.size) this.draw();
  }

  at(step) {
    this.step = step;
    this.drawn?.at(step);
  }

  toggle() {
    if (this.asking) this.asking.abort();
    else this.run();
  }

  async run() {
    const asking = new AbortController();
    const policy = this.search();
    Object.assign(this, { asking, found: new Map(), unit: "" });
    this.signal.addEventListener("abort", () => asking.abort());
    this.start.textContent = "stop";
    const todo = farApartFirst(this.decisions);
    try {
      for (const [n, { step, seat }] of todo.entries()) {
        this.told.textContent = `${policy}: ${n} of ${todo.length} positions`;
        const found = await ask("POST", `/games/${this.game}/steps/${step}/analysis`, { body: { policy }, token: this.token, signal: asking.signal });
        this.found.set(step, { seat, value: found.value });
        this.unit = found.unit;
        this.draw();
      }
      this.told.textContent = `${policy}: ${todo.length} positions`;
    } catch (error) {
      this.told.textContent = `${policy}: ${this.found.size} of ${todo.length} positions`;
      if (error.name !== "AbortError") notice(error.message);
    } finally {
      this.asking = null;
      this.start.textContent = "search along the game";
    }
  }

  draw() {
    const steps = [...this.found.keys()].sort((a, b) => a - b);
    const lines = this.names.map((_, seat) => steps.flatMap((step) => {
      const found = this.found.get(step);
      return found.seat === seat && found.value !== null ? [[step, found.value]] : []; // what is forced has no value
    }));
    this.drawn = curveOf(`values (${this.unit})`, lines, this.steps, this.names, this.go, this.colours);
    this.drawn.at(this.step);
    this.place.replaceChildren(this.drawn.element,
      el("p", { class: "muted" }, `${this.unit}: for each seat, where it decides, what its best turn is worth to it`));
  }
}

function farApartFirst(all) {
  const first = (i) => { let stride = STRIDE; while (i % stride) stride /= 2; return stride; };
  return all.map((each, i) => [each, first(i)]).sort((a, b) => b[1] - a[1]).map(([each]) => each);
}
