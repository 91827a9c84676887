// Write the OpenAPI description of this server as a page.

import { element } from "./element.js";

const reference = document.getElementById("reference");

function prose(text) {
  return text.split("`").map((part, place) => (place % 2 ? element("code", {}, part) : part));
}

function typeOf(schema = {}) {
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return options.map(typeOf).filter((type) => type !== "null").join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  if (schema.contentMediaType || schema.format === "binary") return "file";
  return schema.$ref?.split("/").pop() ?? schema.type ?? "any";
}

function resolve(schema, all) {
  return schema?.$ref ? all[schema.$ref.split("/").pop()] : schema;
}

function fields(operation, all) {
  const parameters = (operation.parameters ?? []).map((parameter) => [
    parameter.name, parameter.schema, parameter.required,
  ]);
  const bodies = Object.values(operation.requestBody?.content ?? {});
  const body = resolve(bodies[0]?.schema, all) ?? {};
  const inBody = Object.entries(body.properties ?? {}).map(([name, schema]) => [
    name, schema, (body.required ?? []).includes(name),
  ]);
  return [...parameters, ...inBody];
}

function table(rows) {
  const body = rows.map(([name, schema, required]) => {
    const notes = [required ? "Required." : "", schema.description ?? ""];
    if (schema.default !== undefined && schema.default !== null && schema.default !== "")
      notes.push(`Default: ${JSON.stringify(schema.default)}.`);
    return element("tr", {},
      element("td", {}, element("code", {}, name)),
      element("td", {}, typeOf(schema)),
      element("td", {}, ...prose(notes.filter(Boolean).join(" "))));
  });
  const head = ["field", "type", ""].map((title) => element("th", {}, title));
  return element("table", {}, element("tr", {}, ...head), ...body);
}

async function write() {
  const description = await (await fetch("/openapi.json")).json();
  const schemas = description.components?.schemas ?? {};
  const groups = new Map();
  for (const [path, operations] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const title = element("h3", {}, element("span", {}, method.toUpperCase()), ` ${path}`);
      const card = element("article", {}, title, element("p", {}, ...prose(operation.description ?? "")));
      if (operation.security) card.append(element("p", {}, "Needs the API key."));
      const rows = fields(operation, schemas);
      if (rows.length) card.append(table(rows));
      const group = operation.tags[0];
      groups.set(group, [...(groups.get(group) ?? []), card]);
    }
  }
  for (const [name, cards] of groups) reference.append(element("h2", {}, name), ...cards);
}

write();
