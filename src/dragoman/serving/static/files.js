// Translate a file, and offer the result for download.

import { translateFile } from "./api.js";
import { element } from "./element.js";

export function listenToFiles(formats, languages) {
  const input = document.getElementById("file");
  const button = document.getElementById("translate-file");
  const status = document.getElementById("file-status");
  input.accept = formats.join(",");

  const isBusy = () => button.hasAttribute("aria-disabled");

  const offer = () => {
    button.disabled = input.files.length === 0;
    if (!isBusy()) status.replaceChildren();
  };

  input.addEventListener("change", offer);
  button.addEventListener("click", async () => {
    if (isBusy()) return; // one after the other, so that no link takes the place of another
    const [file] = input.files;
    const { source, target } = languages; // others may be chosen before the answer
    button.setAttribute("aria-disabled", "true"); // to disable it would take the focus away
    say(status, "Translating…");
    try {
      const path = await translateFile(file, { source, target });
      say(status, linkTo(path, file.name, target));
    } catch (error) {
      say(status, `${file.name}: ${error.message}`, { problem: true });
    }
    button.removeAttribute("aria-disabled");
  });
  offer(); // one may be chosen already: before the server has answered, or kept by the browser
}

function linkTo(path, name, language) {
  const end = name.lastIndexOf(".");
  const title = `Download ${name.slice(0, end)}.${language}${name.slice(end)}`;
  return element("a", { href: path }, title); // the server says under which name it is saved
}

function say(status, content, { problem = false } = {}) {
  status.replaceChildren(content);
  status.classList.toggle("problem", problem);
}
