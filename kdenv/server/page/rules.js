// The rules of a game in words, from /api/v1/rulebook, and how it is played on this page.

import { get } from "./api.js";
import { el, table, tried } from "./parts.js";

const HERE = [
  "What you may choose is outlined on the drawing: click it, or choose it by the tab key and Enter. The list of words beside it has the same choices.",
  "A tile is shown where you clicked; click again to turn it, and then lay it. Choices without a place on the drawing are buttons below it.",
  "Ctrl and the wheel, two fingers, or the buttons + and − make the drawing larger. The slider and the list of what has happened look back.",
  "In a casual game against programs you may ask for a hint and take a decision back. The program \"beginner\" is a good first opponent.",
];

export async function showRules(main, signal, name) {
  const { games } = await get("/rules", { signal });
  const game = el("select", { "aria-label": "game", onchange: () => { location.hash = `#/rules/${game.value}`; } },
    games.map((each) => el("option", { value: each.game, selected: each.game === name }, each.title)));
  const text = el("section", { class: "prose" });
  main.append(el("h1", {}, "Rules"), el("div", { class: "row" }, game, el("a", { href: `#/new`, class: "button" }, "set up a table")),
    el("section", { class: "panel" }, el("h2", {}, "Your first game here"), el("ol", {}, HERE.map((each) => el("li", {}, each)))), text);
  await tried(async () => { text.replaceChildren(...blocks((await get(`/rulebook?game=${game.value}`, { signal })).markdown)); })();
}

// The blocks of a page of Markdown as elements: headings, tables, lists and paragraphs. Code is left out.
function blocks(markdown) {
  return markdown.replace(/^```[^]*?^```$/gm, "").split(/\n\s*\n/).filter((each) => each.trim()).map((block) => {
    const lines = block.trim().split("\n");
    const heading = /^(#+) (.*)/.exec(lines[0]);
    if (heading) return el(heading[1].length < 2 ? "h2" : "h3", {}, words(heading[2]));
    if (lines[0].startsWith("|")) {
      const [heads, , ...rows] = lines.map((line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => words(cell.trim())));
      return table(heads, rows);
    }
    if (!/^([-*]|\d+\.) /.test(lines[0])) return el("p", {}, words(lines.join(" ")));
    const items = [];
    for (const line of lines) {
      if (/^([-*]|\d+\.) /.test(line)) items.push(line.replace(/^([-*]|\d+\.) /, ""));
      else items[items.length - 1] += ` ${line.trim()}`;
    }
    return el(/^\d/.test(lines[0]) ? "ol" : "ul", {}, items.map((item) => el("li", {}, words(item))));
  });
}

// Words with the marks of Markdown carried out; links are only their words.
function words(text) {
  return text.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").split(/(`[^`]*`|\*\*[^*]+\*\*)/).map((part) =>
    (part.startsWith("`") ? el("code", {}, part.slice(1, -1)) : part.startsWith("**") ? el("strong", {}, part.slice(2, -2)) : part));
}
