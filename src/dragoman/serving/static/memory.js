// What the browser keeps for the page, where the reader lets it: to touch it may be forbidden.

export function recall(storage, name) {
  try {
    return window[storage].getItem(name);
  } catch {
    return null;
  }
}

export function remember(storage, name, value) {
  try {
    window[storage].setItem(name, value);
  } catch {
    // it is forgotten with the page
  }
}
