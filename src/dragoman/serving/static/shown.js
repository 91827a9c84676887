// What stands on the page: a text, its translation, and the words of both, sentence by sentence.

import { element } from "./element.js";

const translation = document.getElementById("translation");
const source = document.getElementById("source");
const marks = document.getElementById("source-marks");

const MOST_WORDS = 3000; // with more, the words are not told apart

// Sentences that are not found where they should be, as a character was replaced, have no words.
let sentences = [];
const listeners = [];

export const sentenceOf = (word) => sentences[word.dataset.sentence];

// Others may keep something about the words, and are told when these are no longer the same.
export function onForget(listener) {
  listeners.push(listener);
}

export function forget() {
  sentences = [];
  forgetSource();
}

// The text is being changed; its words are not where they were.
export function forgetSource() {
  marks.replaceChildren();
  for (const listener of listeners) listener();
}

// Take the translation apart; each of its words becomes a button, each of the text a span behind it.
// From within a <button>, or what else can have the focus, browsers let nobody select text.
export function show(candidate, passage) {
  if (passage.words.flat().length + candidate.words.flat().length > MOST_WORDS) return;
  sentences = passage.parts.map((part, place) => ({
    model: passage.model,
    source: part,
    translation: candidate.parts[place],
    sourceCut: passage.words[place], // what its words say
    cut: candidate.words[place],
    sourceWords: [], // their elements
    words: [],
  }));
  if (source.value === passage.source) {
    marks.replaceChildren(...split(passage.source, passage, "sourceWords", () => element("span")));
    marks.append("\u200b"); // a last empty line takes its place
    marks.scrollTop = source.scrollTop;
  }
  translation.replaceChildren(
    ...split(candidate.text, candidate, "words", () =>
      element("span", { role: "button", class: "word" }),
    ),
  );
  const first = translation.querySelector(".word");
  if (first) first.tabIndex = 0;
}

// Another translation of one sentence takes the place of that which is shown; returns the whole.
export function exchange(sentence, { translation: text, words }) {
  const place = sentences.indexOf(sentence);
  const passage = {
    source: source.value,
    parts: sentences.map((each) => each.source),
    words: sentences.map((each) => each.sourceCut),
    model: sentence.model,
  };
  const old = sentences.map((each) => each.translation);
  const parts = old.with(place, text);
  const ofParts = sentences.map((each) => each.cut).with(place, words);
  const whole = translation.textContent;
  const start = locate(whole, old)[place];
  const exchanged = whole.slice(0, start) + text + whole.slice(start + old[place].length);
  forget();
  translation.textContent = exchanged;
  const candidate = { text: exchanged, parts, words: ofParts };
  show(candidate, passage);
  return candidate;
}

// What stands before a word of a sentence, and what several words say.
export function textBefore(word) {
  const { translation: text, words } = sentenceOf(word);
  const before = words.slice(0, Number(word.dataset.word)).map((each) => each.textContent);
  const starts = locate(text, [...before, word.textContent]);
  return text.slice(0, starts.at(-1)).trimEnd();
}

export function textOf(words) {
  return words
    .map((word, i) => (i && word.previousSibling !== words[i - 1] ? " " : "") + word.textContent)
    .join("");
}

function locate(text, parts) {
  let end = 0;
  return parts.map((part) => {
    const start = text.indexOf(part, end);
    if (start >= 0) end = start + part.length;
    return start;
  });
}

// Make an element of each word of the parts, and plain text of what is between.
function split(text, { parts, words }, name, make) {
  const nodes = [];
  let end = 0;
  locate(text, parts).forEach((start, place) => {
    if (start < 0) return;
    locate(parts[place], words[place]).forEach((within, i) => {
      if (within < 0) return;
      if (start + within > end) nodes.push(text.slice(end, start + within));
      const node = make();
      node.textContent = words[place][i];
      node.dataset.sentence = place;
      node.dataset.word = sentences[place][name].length;
      sentences[place][name].push(node);
      nodes.push(node);
      end = start + within + words[place][i].length;
    });
  });
  return [...nodes, text.slice(end)];
}
