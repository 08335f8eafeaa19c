// Finds the page for an address: #/, #/new, #/history, #/api, #/rules/GAME, #/games/ID and #/games/ID/STEP.

import { showApi } from "./about.js";
import { showGame } from "./game.js";
import { showHistory } from "./history.js";
import { showLobby } from "./lobby.js";
import { showRules } from "./rules.js";
import { showSetup } from "./setup.js";
import { notice } from "./parts.js";

const PAGES = new Map([
  ["", [showLobby, "tables"]], ["new", [showSetup, "new table"]], ["history", [showHistory, "history"]], ["api", [showApi, "API"]], ["games", [showGame, "game"]],
  ["rules", [showRules, "rules"]],
]);
let leaving = null;

async function show() {
  const isFirst = leaving === null;
  leaving?.abort();
  leaving = new AbortController();
  const main = document.getElementById("main");
  const [, first = "", id = "", step = ""] = location.hash.split("/");
  const [page, title] = PAGES.get(first.split("?")[0]) || PAGES.get("");
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === `#/${first}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.replaceChildren();
  document.title = `${title} · kdenv`;
  if (!isFirst) main.focus({ preventScroll: true }); // so that a screen reader goes on there, and the tab key, too
  try {
    await page(main, leaving.signal, id, step);
  } catch (error) {
    if (error.name !== "AbortError") notice(error.message);
  }
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
addEventListener("hashchange", show);
show();
