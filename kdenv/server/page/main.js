// Finds the page for an address: #/, #/new, #/history, #/api, #/games/ID and #/games/ID/STEP.

import { showApi } from "./about.js";
import { showGame } from "./game.js";
import { showHistory } from "./history.js";
import { showLobby } from "./lobby.js";
import { showSetup } from "./setup.js";
import { notice } from "./parts.js";

const TITLES = { "": "tables", new: "new table", history: "history", api: "API", games: "game" };
let leaving = null;

async function show() {
  const isFirst = leaving === null;
  leaving?.abort();
  leaving = new AbortController();
  const main = document.getElementById("main");
  const [, first = "", id = "", step = ""] = location.hash.split("/");
  const pages = { "": showLobby, new: showSetup, history: showHistory, api: showApi, games: showGame };
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === `#/${first}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.replaceChildren();
  document.title = `${TITLES[first] || "tables"} · kdenv`;
  if (!isFirst) main.focus({ preventScroll: true }); // so that a screen reader goes on there, and the tab key, too
  const page = pages[first.split("?")[0]] || showLobby;
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
