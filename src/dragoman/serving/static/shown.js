// What stands on the page: a text, its translation, and the words of both, sentence by sentence.

const translation = document.getElementById("translation");
const source = document.getElementById("source");
const marks = document.getElementById("source-marks");

const MOST_WORDS = 3000; // with more, the words are not told apart

// Sentences that are not found where they should be, as a character was replaced, have no words.
let sentences = [];
const listeners = [];

export const sentenceOf = (place) => sentences[place];

// Others may keep something about the words, and are told when these are no longer the same.
export function onForget(listener) {
  listeners.push(listener);
}

export function forget() {
  sentences = [];
  marks.replaceChildren();
  for (const listener of listeners) listener();
}

// The text is being changed; its words are not where they were.
export function forgetSource() {
  marks.replaceChildren();
  for (const listener of listeners) listener();
}

// Take the translation apart; each of its words becomes a button, each of the text a span behind it.
// From within a <button>, or what else can have the focus, browsers let nobody select text.
export function show(candidate, { source: text, parts, model }) {
  const places = locate(text, parts);
  const targets = locate(candidate.text, candidate.parts);
  sentences = parts.map((part, place) => ({
    model,
    source: part,
    translation: candidate.parts[place],
    sourceWords: [],
    words: [],
  }));
  if (countWords(text) + countWords(candidate.text) > MOST_WORDS) {
    sentences = [];
    return;
  }
  if (source.value === text) {
    marks.replaceChildren(...split(text, parts, places, "sourceWords", () => element("span")));
    marks.append("\u200b"); // a last empty line takes its place
    marks.scrollTop = source.scrollTop;
  }
  translation.replaceChildren(
    ...split(candidate.text, candidate.parts, targets, "words", () => {
      const word = element("span");
      word.setAttribute("role", "button");
      word.className = "word";
      return word;
    }),
  );
  const first = translation.querySelector(".word");
  if (first) first.tabIndex = 0;
}

// Another translation of one sentence takes the place of that which is shown.
export function exchange(place, text) {
  const { model } = sentences[place];
  const passage = { source: source.value, parts: sentences.map((each) => each.source), model };
  const parts = sentences.map((each, i) => (i === place ? text : each.translation));
  const old = sentences.map((each) => each.translation);
  const [start] = locate(translation.textContent, old).slice(place);
  const whole = translation.textContent;
  const exchanged = whole.slice(0, start) + text + whole.slice(start + old[place].length);
  forget();
  translation.textContent = exchanged;
  show({ text: exchanged, parts }, passage);
}

const countWords = (text) => text.split(/\s+/).length;
const element = (name) => document.createElement(name);

function locate(text, parts) {
  let end = 0;
  return parts.map((part) => {
    const start = text.indexOf(part, end);
    if (start >= 0) end = start + part.length;
    return start;
  });
}

// Make an element of each word of the parts, and plain text of what is between.
function split(text, parts, places, name, make) {
  const nodes = [];
  let end = 0;
  parts.forEach((part, place) => {
    const start = places[place];
    if (start < 0) return;
    nodes.push(text.slice(end, start));
    for (const word of part.split(/(\s+)/)) {
      if (!word.trim()) {
        nodes.push(word);
        continue;
      }
      const node = make();
      node.textContent = word;
      node.dataset.sentence = place;
      node.dataset.word = sentences[place][name].length;
      sentences[place][name].push(node);
      nodes.push(node);
    }
    end = start + part.length;
  });
  return [...nodes, text.slice(end)];
}
