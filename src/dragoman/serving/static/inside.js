// The panel that shows how one sentence is translated. It asks only while it is open.

import { explain } from "./api.js";
import { showAttention } from "./attention.js";
import { showBeam } from "./beam.js";
import { capitalised, element } from "./element.js";
import { Latest } from "./latest.js";
import { showTokens } from "./tokens.js";

const panel = document.getElementById("inside");
const content = document.getElementById("inside-content");
const pair = document.getElementById("inside-pair");
const choice = document.getElementById("inside-choice");
const sentence = document.getElementById("inside-sentence");
const status = document.getElementById("inside-status");

const latest = new Latest();
let answer = null; // what is shown on the page
let explained = null; // of which sentence and languages the panel tells

panel.addEventListener("toggle", ask);
sentence.addEventListener("change", ask);

// Take the translation that the page shows; null if there is none.
export function lookInside(shown) {
  answer = shown;
  const parts = shown?.parts ?? [];
  sentence.replaceChildren(...parts.map((part, place) => new Option(part, place)));
  choice.hidden = parts.length < 2;
  ask();
}

function ask() {
  if (!panel.open) return;
  const text = answer?.parts[Number(sentence.value)];
  if (!text) {
    explained = null;
    latest.cancel();
    content.hidden = true;
    say("Translate something first.");
    return;
  }
  const wanted = { text, source: answer.source_language, target: answer.target_language };
  if (JSON.stringify(wanted) === explained) return;
  explained = JSON.stringify(wanted);
  latest.now((signal) => look(wanted, signal));
}

async function look({ text, source, target }, signal) {
  say("Looking…");
  content.classList.add("stale");
  try {
    const found = await explain(text, { source, target, signal });
    if (signal.aborted) return;
    say("");
    write(found, { source, target });
    content.hidden = false;
    content.classList.remove("stale");
  } catch (error) {
    if (signal.aborted) return;
    explained = null; // opening the panel again asks again
    content.hidden = true;
    say(error.message);
  }
}

function write(found, { source, target }) {
  pair.replaceChildren(
    element("span", { lang: source, dir: "auto" }, found.text),
    element("span", { "aria-label": "becomes", role: "img", class: "quiet" }, " → "),
    element("span", { lang: target, dir: "auto" }, found.translation),
  );
  const isOther = found.translation !== answer.translated_parts[Number(sentence.value)];
  document.getElementById("inside-other").hidden = !isOther;
  const notes = found.notes.map((note) => element("li", {}, `${note}.`));
  document.getElementById("inside-notes").replaceChildren(...notes);
  showTokens(found.tokens);
  showAttention(found);
  showBeam(found.beam);
}

function say(message) {
  status.textContent = capitalised(message);
  status.hidden = message === "";
}
