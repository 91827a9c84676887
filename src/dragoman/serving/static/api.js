// Ask the server. A problem becomes an Error whose message is a sentence for the reader.

const SILENCE = "the server does not answer";

let key = "";

export function useKey(value) {
  key = value.trim();
}

export const getModels = () => ask("/api/v1/models");
export const getSettings = () => ask("/frontend/settings");

// Translate, and hear of each sentence as soon as it is there; the whole comes at the end.
export async function translate(text, { source, target, numAlternatives, signal, onPiece }) {
  const fields = { text, source, target, n_best: numAlternatives, words: true };
  const response = await send("/api/v1/translate/stream", written(fields, signal));
  for await (const line of readLines(response)) {
    if (line.error) throw new Error(line.error);
    if (line.translation) return line.translation;
    onPiece(line.text);
  }
  throw new Error("the server has stopped in the middle");
}

export function getWays(text, { source, target, prefix }) {
  return post("/api/v1/ways", { text, source, target, prefix }).then((answer) => answer.ways);
}

export function getAlignment(text, translation, { source, target }) {
  return post("/api/v1/alignment", { text, translation, source, target });
}

export function explain(text, { source, target, signal }) {
  return post("/api/v1/explanation", { text, source, target }, signal);
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

const post = (path, fields, signal) => ask(path, written(fields, signal));

function written(fields, signal) {
  const headers = { "Content-Type": "application/json" };
  return { method: "POST", headers, body: JSON.stringify(fields), signal };
}

async function ask(path, options) {
  return listen((await send(path, options)).json());
}

async function send(path, options = {}) {
  const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  const response = await listen(fetch(path, { ...options, headers }));
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  const error = new Error(problem.error ?? `the server answers ${response.status}`);
  error.retryAfter = Number(response.headers.get("Retry-After")); // seconds, or 0
  throw error;
}

async function* readLines(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let begun = "";
  for (;;) {
    const { done, value } = await listen(reader.read());
    if (done) return;
    const lines = (begun + value).split("\n");
    begun = lines.pop();
    for (const line of lines) yield parse(line);
  }
}

// Between the page and the server others may answer, such as one who asks to log in.
function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(SILENCE);
  }
}

async function listen(answer) {
  try {
    return await answer;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(SILENCE);
  }
}
