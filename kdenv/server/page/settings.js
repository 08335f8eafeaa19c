// What a person likes on this browser: forced moves made by themselves, sounds, and notifications.

import { el } from "./parts.js";

const KEY = "kdenv settings";
const USUAL = { forced: true, sounds: false, notify: false };
const WORDS = { forced: "make forced moves for me", sounds: "a sound when it is my turn", notify: "a notification when it is my turn" };

export const likes = () => ({ ...USUAL, ...JSON.parse(localStorage.getItem(KEY) || "{}") });

// The switches, which take effect at once.
export function switches() {
  return Object.entries(WORDS).map(([name, words]) => {
    const box = el("input", { type: "checkbox", checked: likes()[name], onchange: async () => {
      if (name === "notify" && box.checked) box.checked = (await globalThis.Notification?.requestPermission()) === "granted";
      localStorage.setItem(KEY, JSON.stringify({ ...likes(), [name]: box.checked }));
    } });
    return el("label", { class: "switch" }, box, ` ${words}`);
  });
}

// Tells the person, as it likes, that it is its turn.
export function call(title) {
  const { sounds, notify } = likes();
  if (sounds) sound();
  if (notify && document.hidden && globalThis.Notification?.permission === "granted") new Notification("your turn", { body: title });
}

function sound() {
  const context = new AudioContext();
  const [tone, volume] = [context.createOscillator(), context.createGain()];
  volume.gain.setValueAtTime(0.15, context.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + 0.4);
  tone.frequency.value = 660;
  tone.connect(volume).connect(context.destination);
  tone.start();
  tone.stop(context.currentTime + 0.4);
}
