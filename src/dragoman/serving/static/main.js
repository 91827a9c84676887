// The page: put the parts together.

import "./aligned.js";
import { getModels, getSettings, translate, useKey } from "./api.js";
import { listenToFiles } from "./files.js";
import { lookInside } from "./inside.js";
import { Languages } from "./languages.js";
import { Latest } from "./latest.js";
import { recall, remember } from "./memory.js";
import {
  clear,
  showBusy,
  showFailure,
  showPiece,
  showProblem,
  showTranslation,
  translationOf,
} from "./result.js";
import { forgetSource } from "./shown.js";
import "./theme.js";
import "./words.js";

const NUM_ALTERNATIVES = 4;

const source = document.getElementById("source");
const count = document.getElementById("count");
const latest = new Latest();

async function start() {
  const [models, settings] = await Promise.all([getModels(), getSettings()]);
  const translateNow = () => latest.now((signal) => run(languages, signal));
  const onChange = () => {
    showEngine(languages);
    translateNow();
  };
  const onSwap = () => {
    // Without its whole translation a text stays, so that nothing is lost that was typed.
    source.value = translationOf(source.value) ?? source.value;
    forgetSource();
    showCount(settings.charLimit);
    onChange();
  };
  const languages = new Languages(models, { onChange, onSwap });
  showEngine(languages);
  listenToFiles(settings.supportedFilesFormat, languages);
  askForKey(settings.keyRequired);
  source.addEventListener("input", () => {
    forgetSource();
    showCount(settings.charLimit);
    latest.later((signal) => run(languages, signal));
  });
  source.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      translateNow();
    }
  });
  showCount(settings.charLimit);
  if (source.value) translateNow(); // kept by the browser
}

async function run(languages, signal) {
  const text = source.value;
  if (!text.trim()) {
    clear();
    lookInside(null);
    return;
  }
  showBusy();
  const wanted = { source: languages.source, target: languages.target };
  try {
    const answer = await translate(text, {
      ...wanted,
      numAlternatives: NUM_ALTERNATIVES,
      signal,
      onPiece: (piece) => signal.aborted || showPiece(piece, wanted.target),
    });
    if (signal.aborted) return;
    const detected = wanted.source === null;
    const notes = detected ? [`from ${languages.nameOf(answer.source_language)}`] : [];
    const model = languages.modelOf(answer.source_language, answer.target_language);
    showTranslation(answer, { text, notes, model });
    lookInside(model && answer);
  } catch (error) {
    if (signal.aborted) return;
    showFailure(error.message);
    lookInside(null);
    if (error.retryAfter) latest.after(error.retryAfter, (newer) => run(languages, newer));
  }
}

function showCount(limit) {
  const number = [...source.value].length;
  count.textContent = `${number.toLocaleString("en")} / ${limit.toLocaleString("en")}`;
  count.classList.toggle("problem", number > limit);
}

function showEngine(languages) {
  document.getElementById("engine").textContent = languages.engine;
}

function askForKey(required) {
  const input = document.getElementById("key");
  document.getElementById("key-row").hidden = !required;
  input.addEventListener("input", () => {
    remember("sessionStorage", "key", input.value);
    useKey(input.value);
  });
  input.value = recall("sessionStorage", "key") ?? "";
  useKey(input.value);
}

start().catch((error) => showProblem(error.message));
