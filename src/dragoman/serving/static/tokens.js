// How probable each token was, and what else was.

import { element, percent } from "./element.js";

const list = document.getElementById("tokens");

export function showTokens(tokens) {
  list.replaceChildren(...tokens.map(card));
}

function card(token) {
  const level = element("span", { class: "level", "aria-hidden": "true" });
  level.style.setProperty("--w", token.probability);
  const share = percent(token.probability);
  const rank = token.place > 1 ? element("span", { class: "rank" }, ` place ${token.place}`) : "";
  return element(
    "li",
    {},
    element("b", { title: token.piece }, element("bdi", {}, token.piece)),
    element("span", { class: "share" }, share, rank),
    level,
    element("ul", { "aria-label": "Others" }, ...token.others.map(rival)),
  );
}

function rival(token) {
  return element(
    "li",
    {},
    element("span", { class: "piece", title: token.piece }, element("bdi", {}, token.piece)),
    element("span", { class: "share" }, percent(token.probability)),
  );
}
