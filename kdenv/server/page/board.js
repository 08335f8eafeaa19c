// The drawing of a position. It shows what may be clicked, how a tile would lie, and what a search thinks of it. It can be zoomed and moved.
// It knows no game: the server names the shapes. Drawings call seats "player 0"; here they get the names of those who play.

import { el, shape } from "./parts.js";

const ROOM = 8; // between two labels of a hint, at least
const MOST = 6; // times that a drawing is magnified
const LETTERS = ["best", "2nd", "3rd", "4th"]; // on the moves of a hint
const FINGER = 25; // pixels of a target, at least
const LARGER = 2.2; // times that a target is enlarged, at most
const [small, night] = [matchMedia("(max-width: 860px)"), matchMedia("(prefers-color-scheme: dark)")];

// Whether drawings are to be narrow, as for a telephone, and dark; and both as a part of a query.
export const isNarrow = () => small.matches;
export const isDark = () => night.matches;
export const look = (before) => {
  const wanted = [isNarrow() && "narrow=true", isDark() && "dark=true"].filter(Boolean);
  return wanted.length ? before + wanted.join("&") : "";
};
export const onLook = (work, signal) => { for (const each of [small, night]) each.addEventListener("change", work, { signal }); };

export class Board {
  // `place` is the element that holds the drawing; `chosen` is called with an action that the person has clicked.
  constructor(place, chosen) {
    Object.assign(this, { place, chosen, shapes: [], clicked: [], turned: null, view: null, fingers: new Map() });
    this.canvas = el("div", { class: "canvas" });
    this.buttons = el("div", { class: "choices", role: "group", "aria-label": "choices" });
    const zoom = (words, label, work) => el("button", { type: "button", "aria-label": label, onclick: work }, words);
    this.zooms = el("div", { class: "zooms", role: "group", "aria-label": "zoom" },
      zoom("+", "larger", () => this.zoom(1.4)), zoom("−", "smaller", () => this.zoom(1 / 1.4)), zoom("⤢", "the whole drawing", () => this.whole()));
    this.place.append(this.canvas, el("div", { class: "under" }, this.buttons, this.zooms));
    this.canvas.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event); } }, { passive: false });
    for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) this.canvas.addEventListener(kind, (event) => this.move(kind, event));
    this.canvas.addEventListener("click", (event) => { if (this.dragged) { event.stopPropagation(); event.preventDefault(); } }, true);
  }

  // Draws a position. Seats get these names.
  draw(svg, words, names) {
    const drawing = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    const { x, y, width, height } = drawing.viewBox.baseVal || { x: 0, y: 0, width: 0, height: 0 };
    if (width && height) { // as wide as there is room; a wide drawing is not higher than the window
      drawing.removeAttribute("width");
      drawing.removeAttribute("height");
      if (!isNarrow()) drawing.style.maxWidth = `calc(78vh * ${width / height})`;
    }
    const before = this.home;
    this.home = { x, y, width, height };
    if (!before || before.width !== width || before.height !== height) this.view = null;
    drawing.setAttribute("role", "group");
    drawing.setAttribute("aria-label", named(words, names));
    this.hints = shape("g", { class: "hint" });
    this.ghost = shape("g", { class: "ghost" });
    this.targets = shape("g");
    drawing.append(this.ghost, this.targets, this.hints);
    this.drawing = drawing;
    if (this.wide !== innerWidth) this.canvas.style.minHeight = "";
    this.wide = innerWidth;
    this.canvas.replaceChildren(drawing);
    const ground = [...drawing.children].find((each) => each.localName === "rect" && Number(each.getAttribute("width")) === width);
    this.canvas.style.setProperty("--board", ground?.getAttribute("fill") || "none"); // below a drawing that is less high
    const tall = this.canvas.offsetHeight; // it never shrinks, so that what is below stays where it is
    if (tall) this.canvas.style.minHeight = `${tall}px`;
    rename(drawing, names);
    this.look();
    this.offer([]);
  }

  // Shows the shapes of these actions: [{action, meaning, paths, ghost, button}, ...]. Where several actions begin alike, the next click
  // decides, or turns the tile that is shown as a ghost.
  offer(shapes, clicked = []) {
    Object.assign(this, { shapes, clicked, turned: null });
    const wasFocused = this.targets.contains(document.activeElement) || this.buttons.contains(document.activeElement);
    const open = shapes.filter((each) => clicked.every((path, i) => each.paths[i] === path) && each.paths.length > clicked.length && !each.button);
    const next = new Map();
    for (const each of open) {
      const path = each.paths[clicked.length];
      next.set(path, [...(next.get(path) || []), each]);
    }
    this.ghost.replaceChildren();
    this.buttons.replaceChildren(...shapes.filter((each) => each.button && !clicked.length).map((each) => this.button(each.button, () => this.chosen(each.action), each.meaning)));
    if (clicked.length) this.buttons.append(this.button("back", () => this.back()));
    this.targets.replaceChildren(...[...next].map(([path, ways]) => this.target(path, ways)));
    this.enlarge();
    if (wasFocused) this.focus(); // who plays by keyboard goes on where it was
  }

  target(path, ways) {
    const isLast = ways.every((each) => each.paths.length === this.clicked.length + 1);
    const words = ways.length === 1 ? ways[0].meaning : `${ways[0].meaning} and ${ways.length - 1} more`;
    const [turns, shows] = [isLast && ways[0].ghost && !this.clicked.length, isLast && ways[0].ghost && this.clicked.length];
    const click = () => {
      if (turns) this.turn(path, ways);
      else if (ways.length === 1) this.chosen(ways[0].action);
      else this.offer(this.shapes, [...this.clicked, path]);
    };
    const show = shows ? () => { this.ghost.innerHTML = ways[0].ghost; } : () => {}; // from our own server
    const target = shape("path", { d: path, class: "target", tabindex: 0, role: "button", "aria-label": words, onclick: click, onpointerenter: show, onfocus: show,
      onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); click(); } } });
    target.append(shape("title", {}, words));
    return target;
  }

  // Makes targets that are too small for a finger larger, around their middles.
  enlarge() {
    const scale = this.drawing.getBoundingClientRect().width / (this.view || this.home).width;
    for (const target of this.targets.children) {
      const { x, y, width, height } = target.getBBox();
      const factor = Math.min(LARGER, FINGER / (scale * Math.min(width, height)));
      if (factor > 1) target.setAttribute("transform", `translate(${x + width / 2} ${y + height / 2}) scale(${factor}) translate(${-x - width / 2} ${-y - height / 2})`);
      else target.removeAttribute("transform");
    }
  }

  // Shows the ghost of one of these actions, and at the next click that of the next one. A button lays it; a single one is laid by a click.
  turn(path, ways) {
    const isSame = this.turned?.path === path;
    if (isSame && ways.length === 1) { this.chosen(ways[0].action); return; }
    this.turned = { path, at: isSame ? (this.turned.at + 1) % ways.length : 0 };
    const way = ways[this.turned.at];
    this.ghost.innerHTML = way.ghost;
    for (const each of this.targets.children) each.classList.toggle("taken", each.getAttribute("d") === path);
    const [place, turn] = [this.button("lay it", () => this.chosen(way.action), way.meaning), this.button("turn it ↻", () => this.turn(path, ways))];
    place.classList.add("main");
    this.buttons.replaceChildren(place, ...(ways.length > 1 ? [turn] : []), this.button("back", () => this.offer(this.shapes)));
  }

  button(words, work, title = "") {
    return el("button", { type: "button", onclick: work, title }, words);
  }

  focus() {
    (this.targets.firstElementChild || this.buttons.firstElementChild)?.focus();
  }

  back() {
    if (this.clicked.length || this.turned) this.offer(this.shapes);
  }

  // Draws the first moves of a search: `turns` are outlines of whole turns, the best first.
  hint(turns) {
    const boxes = [];
    this.hints.replaceChildren();
    for (const [i, paths] of [...turns.entries()].reverse()) { // the best lies above the others
      const drawn = paths.map((path) => shape("path", { d: path, class: i ? "other" : "best" }));
      if (!drawn.length) continue;
      this.hints.append(...drawn);
      boxes.push([i, drawn[0].getBBox()]);
    }
    const labels = [];
    for (const [i, at] of boxes.reverse()) {
      const label = shape("text", { x: at.x + at.width / 2, y: at.y + 6, class: i ? "" : "best" }, LETTERS[i]);
      this.hints.append(label);
      const box = label.getBBox();
      if (labels.some((other) => Math.abs(box.x - other.x) < (box.width + other.width) / 2 + ROOM && Math.abs(box.y - other.y) < box.height + ROOM)) label.remove();
      else labels.push(box);
    }
  }

  // Zoom

  whole() {
    this.view = null;
    this.look();
  }

  // Magnifies the drawing around a place of the screen, or its middle.
  zoom(factor, at) {
    const { x, y, width, height } = this.view || this.home;
    const box = this.drawing.getBoundingClientRect();
    const [px, py] = at?.clientX === undefined ? [0.5, 0.5] : [(at.clientX - box.left) / box.width, (at.clientY - box.top) / box.height];
    const wide = Math.min(this.home.width, Math.max(this.home.width / MOST, width / factor));
    const tall = (wide * this.home.height) / this.home.width;
    this.view = wide >= this.home.width ? null : this.within({ x: x + px * (width - wide), y: y + py * (height - tall), width: wide, height: tall });
    this.look();
  }

  within(view) {
    const bound = (value, least, most) => Math.min(Math.max(value, least), most);
    const { x, y, width, height } = this.home;
    return { ...view, x: bound(view.x, x, x + width - view.width), y: bound(view.y, y, y + height - view.height) };
  }

  look() {
    const { x, y, width, height } = this.view || this.home;
    if (width) this.drawing.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    this.place.classList.toggle("zoomed", this.view !== null);
    this.enlarge();
  }

  // Two fingers zoom, one moves what is magnified. A click that was a move is none.
  move(kind, event) {
    if (kind === "pointerdown") {
      if (!this.fingers.size) this.dragged = false;
      this.fingers.set(event.pointerId, event);
      return;
    }
    const last = this.fingers.get(event.pointerId);
    if (kind !== "pointermove" || !last) { this.fingers.delete(event.pointerId); return; }
    const far = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    if (this.fingers.size === 2) {
      const other = [...this.fingers.values()].find((each) => each.pointerId !== event.pointerId);
      const middle = { clientX: (event.clientX + other.clientX) / 2, clientY: (event.clientY + other.clientY) / 2 };
      this.zoom(far(event, other) / Math.max(1, far(last, other)), middle);
      this.dragged = true;
    } else if (this.view && (this.dragged || far(event, last) > 5)) {
      const scale = this.view.width / this.drawing.getBoundingClientRect().width;
      this.view = this.within({ ...this.view, x: this.view.x - (event.clientX - last.clientX) * scale, y: this.view.y - (event.clientY - last.clientY) * scale });
      this.look();
      this.dragged = true;
    } else return;
    this.fingers.set(event.pointerId, event);
  }
}

const PLAYER = /\bplayer (\d+)\b/g;
const SHORT = 14; // letters of a name on a drawing

// Replaces "player 0" in a text by the name of the seat.
export const named = (text, names, most = Infinity) => text.replace(PLAYER, (all, seat) => {
  const name = names[seat] || all;
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
});

// Writes names where the drawing says "player 0". Its letters are outlines 10 units high; a name may be as wide as they were.
function rename(drawing, names) {
  for (const title of drawing.querySelectorAll("title")) title.textContent = named(title.textContent, names);
  for (const group of drawing.querySelectorAll("g[aria-label]")) {
    const label = group.getAttribute("aria-label");
    group.setAttribute("role", "img"); // else the label of a group is not read
    if (named(label, names) === label) continue;
    const { width } = group.getBBox();
    const isMiddle = group.classList.contains("middle");
    const room = width * (isMiddle ? 2 : 1);
    const text = shape("text", { "font-size": 13.5, "font-family": "system-ui, sans-serif", "font-weight": 600, "stroke-width": 0, "text-anchor": isMiddle ? "middle" : "start",
      x: isMiddle ? width / 2 : 0, fill: group.getAttribute("stroke") }, named(label, names, SHORT));
    group.setAttribute("aria-label", named(label, names));
    group.replaceChildren(text);
    if (text.getComputedTextLength() > room) { text.setAttribute("textLength", room); text.setAttribute("lengthAdjust", "spacingAndGlyphs"); }
  }
}
