// Point at a word, or reach it by keyboard, and the words of the other side light up that it is
// aligned to. The text itself is a box to type in; its marks stand on a layer behind it.

import { getAlignment } from "./api.js";
import { onForget, sentenceOf, textOf } from "./shown.js";

const translation = document.getElementById("translation");
const source = document.getElementById("source");
const marks = document.getElementById("source-marks");
const note = document.getElementById("aligned");

let pointed = null; // the word, so that an answer that comes late lights up nothing else

translation.addEventListener("pointerover", (event) => point(event.target.closest(".word")));
translation.addEventListener("focusin", (event) => point(event.target.closest(".word")));
translation.addEventListener("focusout", () => point(null));
translation.addEventListener("pointerleave", () => point(null));
source.addEventListener("pointermove", (event) => point(wordBehind(event)));
source.addEventListener("pointerleave", () => point(null));
source.addEventListener("blur", () => point(null));
source.addEventListener("keyup", (event) => {
  if (event.key.startsWith("Arrow") || ["Home", "End"].includes(event.key)) point(wordAtCaret());
});
source.addEventListener("scroll", () => (marks.scrollTop = source.scrollTop));
onForget(() => point(null));

// The layer lies under the box, at the same place.
function wordBehind(event) {
  const under = document.elementsFromPoint(event.clientX, event.clientY);
  return under.find((node) => node.parentElement === marks) ?? null;
}

function wordAtCaret() {
  let end = 0;
  for (const node of marks.childNodes) {
    const start = end;
    end += node.textContent.length;
    const isWord = node.nodeType === Node.ELEMENT_NODE;
    if (isWord && start <= source.selectionStart && source.selectionStart <= end) return node;
  }
  return null;
}

async function point(word) {
  if (word === pointed) return;
  pointed = word;
  darken();
  const sentence = word && sentenceOf(word);
  if (!sentence?.model.aligns) return;
  sentence.links ??= ask(sentence); // a promise
  const links = await sentence.links;
  if (pointed !== word) return;
  const place = Number(word.dataset.word);
  const ofSource = word.parentElement === marks;
  const chosen = links.filter(([from, to]) => (ofSource ? from : to) === place);
  light(
    pick(sentence.sourceWords, ofSource ? [place] : chosen.map(([from]) => from)),
    pick(sentence.words, ofSource ? chosen.map(([, to]) => to) : [place]),
  );
}

const pick = (words, places) => [...new Set(places)].sort((a, b) => a - b).map((i) => words[i]);

async function ask({ source: text, translation: translated, model, sourceWords, words }) {
  try {
    const answer = await getAlignment(text, translated, model);
    const same =
      answer.source_words.length === sourceWords.length &&
      answer.target_words.length === words.length;
    return same ? answer.links : [];
  } catch {
    return []; // there is nothing to light up, which is no reason to disturb
  }
}

function light(sources, targets) {
  if (!sources.length || !targets.length) return;
  for (const word of [...sources, ...targets]) word.classList.add("lit");
  note.textContent = `${textOf(sources)} ↔ ${textOf(targets)}`;
}

function darken() {
  for (const word of document.querySelectorAll(".lit")) word.classList.remove("lit");
  note.textContent = "";
}
