// The drawing of a position. It shows what may be clicked, and what a search thinks of it. It knows no game: the server names the shapes.

import { shape } from "./parts.js";

const ROOM = 8; // between two labels of a hint, at least

export class Board {
  // `place` is the element that holds the drawing; `chosen` is called with an action that the person has clicked.
  constructor(place, chosen) {
    this.place = place;
    this.chosen = chosen;
    this.shapes = [];
    this.clicked = [];
  }

  draw(svg, words) {
    const drawing = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    drawing.removeAttribute("width");
    drawing.removeAttribute("height");
    const { width, height } = drawing.viewBox.baseVal;
    drawing.style.maxWidth = `calc(82vh * ${width / height})`; // so that it is seen whole
    drawing.setAttribute("role", "group");
    drawing.setAttribute("aria-label", words);
    this.targets = shape("g");
    this.hints = shape("g", { class: "hint" });
    drawing.append(this.targets, this.hints);
    this.place.replaceChildren(drawing);
    this.offer([]);
  }

  // Shows the shapes of these actions: [{action, words, paths}, ...]. Where several actions begin alike, the next click decides.
  offer(shapes, clicked = []) {
    this.shapes = shapes;
    this.clicked = clicked;
    const wasFocused = this.targets.contains(document.activeElement);
    const open = shapes.filter((each) => clicked.every((path, i) => each.paths[i] === path) && each.paths.length > clicked.length);
    const next = new Map();
    for (const each of open) {
      const path = each.paths[clicked.length];
      next.set(path, [...(next.get(path) || []), each]);
    }
    this.targets.replaceChildren(...[...next].map(([path, ways]) => {
      const words = ways.length === 1 ? ways[0].words : `${ways[0].words} and ${ways.length - 1} more`;
      const click = () => (ways.length === 1 ? this.chosen(ways[0].action) : this.offer(shapes, [...clicked, path]));
      const target = shape("path", { d: path, class: "target", tabindex: 0, role: "button", "aria-label": words, onclick: click,
        onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); click(); } } });
      target.append(shape("title", {}, words));
      return target;
    }));
    if (wasFocused) this.focus(); // who plays by keyboard goes on where it was
  }

  focus() {
    this.targets.firstElementChild?.focus();
  }

  back() {
    if (this.clicked.length) this.offer(this.shapes);
  }

  // Draws the best candidates of a search on the shapes of their actions, each with its share of visits and its value, where there is room.
  hint(candidates, shapes) {
    const paths = new Map(shapes.map((each) => [each.action, each.paths]));
    const best = candidates.filter((each, i) => candidates.findIndex((other) => other.action === each.action) === i);
    const labels = [];
    const boxes = [];
    this.hints.replaceChildren();
    for (const [i, candidate] of best.slice(0, 4).entries()) {
      const drawn = (paths.get(candidate.action) || []).map((path) => shape("path", { d: path, opacity: String(1 - i * 0.22) }));
      if (!drawn.length) continue;
      this.hints.append(...drawn);
      const at = drawn.at(-1).getBBox();
      const value = candidate.value === null ? "" : ` ${candidate.value.toFixed(2)}`;
      const label = shape("text", { x: at.x + at.width / 2, y: at.y + at.height / 2 + 8 }, `${Math.round(candidate.share * 100)}%${value}`);
      this.hints.append(label);
      const box = label.getBBox();
      const covers = (other) => Math.abs(box.x - other.x) < (box.width + other.width) / 2 + ROOM && Math.abs(box.y - other.y) < box.height + ROOM;
      label.remove();
      if (boxes.some(covers)) continue;
      boxes.push(box);
      labels.push(label);
    }
    this.hints.append(...labels); // above all outlines
  }
}
