// Sets a table up: the game, its options with their meanings, and who sits where.

import { get, keepName, keepSeat, myName, post } from "./api.js";
import { el, tried } from "./parts.js";

// The server chooses if none is chosen: minutes between people, days for a person alone.
const CLOCKS = [["as usual: 10 minutes between people", ""], ["1 minute", 60], ["3 minutes", 180], ["10 minutes", 600], ["1 hour", 3600], ["1 day", 86400], ["3 days", 259200]];

export async function showSetup(main, signal) {
  const { games } = await get("/rules", { signal });
  const game = el("select", { id: "game", onchange: tried(() => fill()) }, games.map((each) => el("option", { value: each.game }, each.title)));
  const name = el("input", { id: "name", value: myName(), maxlength: 40, autocomplete: "nickname" });
  const called = el("input", { id: "called", maxlength: 40 });
  const rules = el("div", { class: "grid" });
  const count = el("div", { class: "grid" });
  const seats = el("div", { class: "grid" });
  const clock = el("select", { id: "clock" }, CLOCKS.map(([words, seconds]) => el("option", { value: seconds }, words)));
  const check = (id, words, on) => el("label", {}, el("input", { type: "checkbox", id, checked: on }), ` ${words}`);
  const begin = el("button", { class: "main", type: "submit" }, "begin");
  const form = el("form", { class: "panel", onsubmit: tried(submit) },
    el("div", { class: "grid" },
      el("label", { for: "game" }, "game"), game,
      el("label", { for: "name" }, "your name"), name,
      el("label", { for: "called" }, "name of the table (if you like)"), called,
      el("label", { for: "clock" }, "time for a decision"), clock),
    el("h2", {}, "Who plays"), count, seats,
    el("h2", {}, "Rules"), rules,
    el("p", {}, check("casual", "casual: undo and hints are allowed, if you are the only person", true), el("br"),
      check("public", "listed in the lobby; if not, only who has the link finds it", true), el("br"),
      check("analysis", "everybody may analyse it while it goes on", false)),
    begin);
  main.append(el("h1", {}, "Set up a table"), form);
  let about;
  let policies;
  await fill();

  // Nothing of the game before can be sent while the programs of this one are fetched.
  async function fill() {
    const chosen = games.find((each) => each.game === game.value);
    begin.disabled = true;
    for (const each of [rules, count, seats]) each.replaceChildren();
    const found = await get(`/policies?game=${chosen.game}`, { signal });
    if (game.value !== chosen.game) return;
    about = chosen;
    policies = found;
    begin.disabled = false;
    const players = el("select", { id: "players", onchange: () => sit(Number(players.value)) },
      about.players.map((n) => el("option", { value: n }, String(n))));
    count.replaceChildren(el("label", { for: "players" }, "players"), players);
    rules.replaceChildren(...about.options.flatMap(option));
    sit(about.players[0]);
  }

  function option(each) {
    const id = `option ${each.name}`;
    const field = each.values.length
      ? el("select", { id, "data-option": each.name }, each.values.map((value) => el("option", { value }, value)))
      : el("input", { id, "data-option": each.name, placeholder: "usual" });
    return [el("label", { for: id }, each.name), el("div", {}, field, " ", el("span", { class: "muted" }, each.meaning))];
  }

  function sit(n) {
    seats.replaceChildren(...Array.from({ length: n }, (_, seat) => {
      const text = el("input", { id: `text ${seat}`, "aria-label": `policy of seat ${seat}`, hidden: true, list: "policies", value: "mce(seconds=1)" });
      const who = el("select", { id: `seat ${seat}`, onchange: () => { text.hidden = who.value !== "other"; } },
        el("option", { value: "me", selected: seat === 0 }, "you"),
        el("option", { value: "open" }, "open: whoever joins"),
        policies.recommended.map((each, i) => el("option", { value: each.policy, selected: seat > 0 && i === 0 }, `a program: ${each.strength}`)),
        el("option", { value: "other" }, "another program ..."));
      return [el("label", { for: `seat ${seat}` }, `seat ${seat}`), el("div", {}, who, " ", text)];
    }).flat(), el("details", { class: "muted" }, el("summary", {}, "what these programs are"),
      el("ul", {}, policies.recommended.map((each) => el("li", {}, `${each.strength}: ${each.policy}${meaning(each.policy)}`)))), el("datalist", { id: "policies" }, policies.policies.map((each) => el("option", { value: each.policy }, each.meaning))));
  }

  // What a program does, as far as it is listed by its name.
  function meaning(policy) {
    const listed = policies.policies.find((each) => each.name === policy.split("(")[0]);
    return listed ? `, ${listed.meaning}` : "";
  }

  async function submit(event) {
    event.preventDefault();
    const all = [...seats.querySelectorAll("select")].map((select, seat) =>
      (select.value === "other" ? seats.querySelectorAll("input")[seat].value : select.value));
    const options = {};
    for (const field of rules.querySelectorAll("[data-option]")) if (field.value) options[field.dataset.option] = field.value;
    const mine = all.flatMap((who, seat) => (who === "me" ? [seat] : []));
    if (mine.length && !name.value.trim()) throw new Error("write your name first");
    keepName(name.value.trim());
    const made = await post("/games", {
      game: about.game, options, called: called.value, players: all.length, seats: all.map((who) => (who === "me" ? "open" : who)),
      casual: form.querySelector("#casual").checked, public: form.querySelector("#public").checked,
      analysis: form.querySelector("#analysis").checked, ...(clock.value ? { turn_seconds: Number(clock.value) } : {}),
    });
    for (const [number, seat] of mine.entries()) {
      const joined = await post(`/games/${made.id}/join`, { name: number ? `${name.value.trim()} ${number + 1}` : name.value.trim(), seat });
      keepSeat(made.id, joined.seat, joined.token);
    }
    location.hash = `#/games/${made.id}`;
  }
}
