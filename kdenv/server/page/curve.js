// A curve for each seat along a game: its points, or what a search thinks that its position is worth. A click goes to that step.

import { called, el, shape } from "./parts.js";

const COLOURS = ["#d0453a", "#3f86d6", "#d09a1a", "#4a9d54", "#a868bb", "#888"];
const WIDTH = 600;
const HEIGHT = 150;

// `lines` holds for each seat its numbers as [step, number]; `go` is called with the step of a click. Returns the element and a function
// that marks the step that is looked at.
export function curveOf(what, lines, steps, names, go, colours = []) {
  const colour = (seat) => colours[seat] || COLOURS[seat % COLOURS.length];
  const all = lines.flat().map(([, number]) => number);
  const [least, most] = all.length ? [Math.min(...all), Math.max(...all)] : [0, 0];
  const x = (step) => 8 + (WIDTH - 16) * (steps ? step / steps : 0);
  const y = (number) => HEIGHT - 10 - (HEIGHT - 20) * ((number - least) / (most - least || 1));
  const told = names.flatMap((name, seat) => (lines[seat].length ? [`${name} ${short(lines[seat].at(-1)[1])}`] : []));
  const cursor = shape("line", { y1: 0, y2: HEIGHT, class: "cursor", "vector-effect": "non-scaling-stroke" });
  const drawing = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "curve", preserveAspectRatio: "none", role: "img",
    "aria-label": `${what}, at last: ${told.join(", ") || "nothing yet"}` }, cursor);
  lines.forEach((line, seat) => {
    const [points, look] = [line.map(([step, number]) => `${x(step).toFixed(1)},${y(number).toFixed(1)}`), { stroke: colour(seat), "vector-effect": "non-scaling-stroke" }];
    const path = { points: points.join(" "), fill: "none", "vector-effect": "non-scaling-stroke" };
    drawing.append(shape("polyline", { ...path, class: "under", "stroke-width": 5 }), shape("polyline", { ...path, class: "line", "stroke-width": 2.5, ...look }));
    if (line.length < 30) drawing.append(...points.map((point) => shape("path", { d: `M${point}h0`, "stroke-width": 7, "stroke-linecap": "round", ...look })));
  });
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    go(Math.max(0, Math.min(steps, Math.round(((((event.clientX - box.left) / box.width) * WIDTH - 8) / (WIDTH - 16)) * steps))));
  });
  const key = names.map((name, seat) => {
    const dot = shape("svg", { width: 12, height: 12, "aria-hidden": "true" }, shape("circle", { cx: 6, cy: 6, r: 5, class: "under", fill: colour(seat) }));
    return el("span", {}, dot, " ", called(name));
  });
  const range = all.length ? el("span", { class: "muted" }, `from ${short(least)} to ${short(most)}`) : null;
  const at = (step) => { cursor.setAttribute("x1", x(step)); cursor.setAttribute("x2", x(step)); };
  return { element: el("div", {}, drawing, el("div", { class: "row muted" }, key, range)), at };
}

const short = (number) => (Number.isInteger(number) ? String(number) : number.toFixed(2));
