// The points of all seats along a game. A click goes to that step.

import { el, shape } from "./parts.js";

const COLOURS = ["#c8352b", "#2467b5", "#d09a1a", "#3d8b46", "#8e4ba0", "#777"];
const WIDTH = 600;
const HEIGHT = 150;

export function curveOf(scores, names, go) {
  const all = scores.flat();
  const [least, most] = [Math.min(...all), Math.max(...all, Math.min(...all) + 1)];
  const x = (step) => 8 + (WIDTH - 16) * (scores.length < 2 ? 0 : step / (scores.length - 1));
  const y = (points) => HEIGHT - 10 - (HEIGHT - 20) * ((points - least) / (most - least));
  const drawing = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "curve", preserveAspectRatio: "none", role: "img",
    "aria-label": `points: ${names.map((name, seat) => `${name} ${scores.at(-1)[seat]}`).join(", ")}` });
  names.forEach((_, seat) => {
    const line = scores.map((points, step) => `${x(step).toFixed(1)},${y(points[seat]).toFixed(1)}`).join(" ");
    drawing.append(shape("polyline", { points: line, fill: "none", stroke: COLOURS[seat % COLOURS.length], "stroke-width": 2.5, "vector-effect": "non-scaling-stroke" }));
  });
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    go(Math.round(((event.clientX - box.left) / box.width) * (scores.length - 1)));
  });
  const key = names.map((name, seat) => {
    const dot = shape("svg", { width: 12, height: 12 }, shape("circle", { cx: 6, cy: 6, r: 5, fill: COLOURS[seat % COLOURS.length] }));
    return el("span", {}, dot, ` ${name}`);
  });
  return el("div", {}, drawing, el("div", { class: "row muted" }, key));
}
