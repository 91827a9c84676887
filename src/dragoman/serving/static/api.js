// Ask the server. A problem becomes an Error whose message is a sentence for the reader.

let key = "";

export function useKey(value) {
  key = value.trim();
}

export const getModels = () => ask("/api/v1/models");
export const getSettings = () => ask("/frontend/settings");

export function translate(text, { source, target, numAlternatives, signal }) {
  return ask("/api/v1/translate", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ text, source, target, n_best: numAlternatives }),
    signal,
  }).then((answer) => answer.translations[0]);
}

export function getWays(text, { source, target, prefix }) {
  return ask("/api/v1/ways", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ text, source, target, prefix }),
  }).then((answer) => answer.ways);
}

export function translateFile(file, { source, target }) {
  const form = new FormData();
  form.append("file", file);
  form.append("source", source ?? "auto");
  form.append("target", target);
  return ask("/translate_file", { method: "POST", body: form }).then(
    (answer) => new URL(answer.translatedFileUrl).pathname,
  );
}

async function ask(path, options = {}) {
  const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server does not answer");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `the server answers ${response.status}`);
  return answer;
}
