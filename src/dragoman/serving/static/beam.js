// The beam search: the tree that the server has drawn, and a table of all candidates.

import { element } from "./element.js";

const drawing = document.getElementById("beam");
const note = document.getElementById("beam-note");
const ending = document.getElementById("beam-ending");
const steps = document.getElementById("steps");
const section = drawing.parentElement;

const HEAD = ["place", "token", "after", "its log P", "sum", "score", "what becomes of it"];
const NUM_LAST = 3; // tokens of the prefix that a candidate extends

export function showBeam(beam) {
  const isGreedy = beam.steps.length === 0;
  for (const part of section.querySelectorAll(".legend, #beam, details")) part.hidden = isGreedy;
  note.textContent = isGreedy
    ? "The beam is 1: greedy search takes the most probable token at each position."
    : `At each step the ${beam.size} live beginnings are extended by every token, and the ` +
      `${2 * beam.size} most probable extensions, best on top, are candidates. In each box, the ` +
      "last token and the log-probability of all.";
  ending.textContent = beam.ending;
  drawing.replaceChildren(...(isGreedy ? [] : [parse(beam.drawing)]));
  steps.replaceChildren(headOf(HEAD), ...beam.steps.map((step, number) => body(beam, step, number)));
}

// The drawing is XML: with no HTML in it, nothing in it loads or runs.
function parse(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return document.importNode(parsed, true);
}

function headOf(names) {
  const cells = names.map((name) => element("th", { scope: "col" }, name));
  return element("thead", {}, element("tr", {}, ...cells));
}

function body(beam, step, number) {
  const title = element("th", { scope: "rowgroup", colspan: HEAD.length }, `Step ${number + 1}`);
  const rows = step.map((candidate, place) => {
    const cells = [
      `${place + 1}`,
      candidate.piece,
      prefixOf(beam, number, candidate),
      candidate.token_log_probability.toFixed(3),
      candidate.log_probability.toFixed(3),
      candidate.score.toFixed(3),
      candidate.reason,
    ];
    return element("tr", {}, ...cells.map((text) => element("td", {}, element("bdi", {}, text))));
  });
  return element("tbody", {}, element("tr", {}, title), ...rows);
}

function prefixOf(beam, number, candidate) {
  const pieces = [];
  let { parent } = candidate;
  for (const step of beam.steps.slice(0, number).reverse()) {
    pieces.unshift(step[parent].piece);
    ({ parent } = step[parent]);
  }
  if (!pieces.length) return "the beginning";
  return (pieces.length > NUM_LAST ? "… " : "") + pieces.slice(-NUM_LAST).join(" ");
}
