// The page: put the parts together.

import { getModels, getSettings, translate, useKey } from "./api.js";
import { listenToFiles } from "./files.js";
import { Languages } from "./languages.js";
import { Latest } from "./latest.js";
import { clear, currentText, listenToCopy, showBusy, showProblem, showTranslation } from "./result.js";
import { listenToTheme } from "./theme.js";
import { offerWords } from "./words.js";

const NUM_ALTERNATIVES = 4;

const source = document.getElementById("source");
const count = document.getElementById("count");
const latest = new Latest();

async function start() {
  listenToTheme();
  listenToCopy();
  const [models, settings] = await Promise.all([getModels(), getSettings()]);
  const languages = new Languages(models, {
    onChange: () => {
      showEngine(languages);
      latest.now((signal) => run(languages, signal));
    },
    onSwap: () => {
      source.value = currentText();
      showCount(settings.charLimit);
      showEngine(languages);
      latest.now((signal) => run(languages, signal));
    },
  });
  showEngine(languages);
  listenToFiles(settings.supportedFilesFormat, languages);
  askForKey(settings.keyRequired);
  source.addEventListener("input", () => {
    showCount(settings.charLimit);
    latest.later((signal) => run(languages, signal));
  });
  source.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      latest.now((signal) => run(languages, signal));
    }
  });
  showCount(settings.charLimit);
  if (source.value) latest.now((signal) => run(languages, signal)); // kept by the browser
}

async function run(languages, signal) {
  if (!source.value.trim()) {
    clear();
    return;
  }
  showBusy();
  const wanted = { source: languages.source, target: languages.target };
  try {
    const answer = await translate(source.value, {
      ...wanted,
      numAlternatives: NUM_ALTERNATIVES,
      signal,
    });
    if (signal.aborted) return;
    const detected = wanted.source === null;
    showTranslation(answer, detected ? [`from ${languages.nameOf(answer.source_language)}`] : []);
    if (answer.parts.length === 1 && answer.source_language !== answer.target_language) {
      const pair = { source: answer.source_language, target: answer.target_language };
      offerWords(answer.parts[0], pair, showProblem);
    }
  } catch (error) {
    if (!signal.aborted) showProblem(error.message);
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
  const remember = () => {
    sessionStorage.setItem("key", input.value);
    useKey(input.value);
  };
  input.addEventListener("input", remember);
  input.value = sessionStorage.getItem("key") ?? "";
  useKey(input.value);
}

start().catch((error) => showProblem(error.message));
