// Elements whose content is text, so that nothing that a model writes is ever markup.

const SVG = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, ...content) {
  return fill(document.createElement(name), attributes, content);
}

export function shape(name, attributes = {}, ...content) {
  return fill(document.createElementNS(SVG, name), attributes, content);
}

function fill(made, attributes, content) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

export const capitalised = (text) => text && text[0].toUpperCase() + text.slice(1);

export const percent = (share) =>
  share >= 0.995 ? "100 %" : share < 0.001 ? "< 0.1 %" : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
