// Every head as a small picture, and the one that is chosen as a table whose cells are shaded.

import { capitalised, element, percent, shape } from "./element.js";

const heads = document.getElementById("heads");
const map = document.getElementById("map");
const mapTitle = document.getElementById("map-title");
const mapNote = document.getElementById("map-note");
const kindNote = document.getElementById("kind-note");

const LEVELS = 12; // shades of a small picture: the cells of one are one path
const LEAST_WRITTEN = 0.1; // weights from which a cell has its per cent
const HALF = [0.45, 0.65]; // weights whose shade is about as far from both colours of text
const NUM_NAMED = 3;
const MEAN = "mean";

const NOTES = {
  cross: "What the decoder looks at in the source (column) to choose the token of a row.",
  encoder: "What each token of the source (row) looks at in the source (column).",
  decoder:
    "What the decoder looks at in its translation so far (column) to choose the token of a row. It sees nothing that comes later.",
};

let shown = null; // the explanation
let chosen = { kind: "cross", layer: null, head: MEAN };

export function showAttention(explanation) {
  shown = explanation;
  const layers = shown.attention[chosen.kind];
  if (!(chosen.layer in layers)) chosen.layer = layers.length - 1;
  if (chosen.head !== MEAN && !(chosen.head in layers[chosen.layer])) chosen.head = MEAN;
  drawHeads(layers);
  drawMap();
}

document.querySelector(".kinds").addEventListener("change", (event) => {
  chosen = { ...chosen, kind: event.target.value };
  showAttention(shown);
});

heads.addEventListener("change", (event) => {
  const [layer, head] = event.target.value.split("-");
  chosen = { ...chosen, layer: Number(layer), head: head === MEAN ? MEAN : Number(head) };
  drawMap();
});

function drawHeads(layers) {
  kindNote.textContent = NOTES[chosen.kind];
  const columns = [...layers[0].keys(), MEAN];
  heads.style.setProperty("--columns", columns.length);
  const names = columns.map((head) =>
    element("span", { class: "name", "aria-hidden": "true" }, head === MEAN ? MEAN : `${head + 1}`),
  );
  const corner = element("span", { class: "name corner", "aria-hidden": "true" }, "head");
  const rows = layers.flatMap((_, layer) => [
    element("span", { class: "name", "aria-hidden": "true" }, `layer ${layer + 1}`),
    ...columns.map((head) => picture(layer, head)),
  ]);
  heads.replaceChildren(corner, ...names, ...rows);
}

function picture(layer, head) {
  const value = `${layer}-${head}`;
  const input = element("input", { type: "radio", name: "head", value, "aria-label": nameOf(layer, head) });
  input.checked = layer === chosen.layer && head === chosen.head;
  return element("label", { title: nameOf(layer, head) }, input, thumbnail(weightsOf(layer, head)));
}

const nameOf = (layer, head) =>
  `layer ${layer + 1}, ${head === MEAN ? "mean of the heads" : `head ${head + 1}`}`;

function weightsOf(layer, head) {
  const ofLayer = shown.attention[chosen.kind][layer];
  if (head !== MEAN) return ofLayer[head];
  return ofLayer[0].map((row, i) =>
    row.map((_, j) => ofLayer.reduce((sum, one) => sum + one[i][j], 0) / ofLayer.length),
  );
}

function thumbnail(weights) {
  const paths = Array.from({ length: LEVELS + 1 }, () => "");
  weights.forEach((row, y) =>
    row.forEach((weight, x) => (paths[Math.round(weight * LEVELS)] += `M${x} ${y}h1v1h-1z`)),
  );
  const drawn = paths.slice(1).map((d, level) => {
    const path = shape("path", { d });
    path.style.setProperty("--w", (level + 1) / LEVELS);
    return path;
  });
  const viewBox = `0 0 ${weights[0].length} ${weights.length}`;
  const attributes = { viewBox, preserveAspectRatio: "none", "aria-hidden": "true" };
  return shape("svg", attributes, ...drawn.filter((path) => path.getAttribute("d")));
}

function labels() {
  const tokens = shown.tokens.map((token) => token.piece);
  return {
    cross: [tokens, shown.source_pieces],
    encoder: [shown.source_pieces, shown.source_pieces],
    decoder: [tokens, shown.read_pieces],
  }[chosen.kind];
}

function drawMap() {
  const weights = weightsOf(chosen.layer, chosen.head);
  const [rows, columns] = labels();
  mapTitle.textContent = capitalised(nameOf(chosen.layer, chosen.head));
  mapNote.textContent = "A row adds up to 100 %. Point at one to read its largest weights.";
  const head = element("tr", {}, element("td"), ...columns.map(columnHead));
  const lines = rows.map((token, i) =>
    element("tr", {}, element("th", { scope: "row" }, element("bdi", {}, token)), ...weights[i].map(cell)),
  );
  map.style.setProperty("--columns", columns.length);
  map.replaceChildren(element("thead", {}, head), element("tbody", {}, ...lines));
}

const isolated = (token) => `\u2068${token}\u2069`; // whatever direction it is written in

const columnHead = (token) => element("th", { scope: "col" }, element("bdi", {}, token));

function cell(weight) {
  const made = element("td", {}, `${Math.round(100 * weight)}`);
  made.style.setProperty("--w", weight);
  if (weight < LEAST_WRITTEN) made.className = "little";
  else if (weight >= HALF[1]) made.className = "much";
  else if (weight >= HALF[0]) made.className = "half";
  return made;
}

map.addEventListener("pointerover", (event) => {
  const row = event.target.closest("tbody tr");
  if (!row) return;
  const [rows, columns] = labels();
  const weights = weightsOf(chosen.layer, chosen.head)[row.rowIndex - 1];
  const largest = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, NUM_NAMED);
  const named = largest.map((i) => `${isolated(columns[i])} ${percent(weights[i])}`).join(", ");
  mapNote.textContent = `${isolated(rows[row.rowIndex - 1])} looks at ${named}`;
});
