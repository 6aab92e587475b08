"use strict";

/* The documentation of the API, made of its OpenAPI description. All of it is set as text. */
(function () {
  function make(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children.flat(Infinity));
    return made;
  }

  let schemas = {};
  const plain = (text) => text.replace(/`/g, "");
  const named = (reference) => schemas[reference.split("/").pop()];

  function typeOf(schema) {
    if (schema.$ref) return schema.$ref.split("/").pop();
    if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
    if (schema.enum) return schema.enum.map((value) => `"${value}"`).join(" or ");
    if (schema.type === "array") return `list of ${schema.items ? typeOf(schema.items) : "values"}`;
    return schema.type || "value";
  }

  const fact = (name, text) => [make("dt", {}, make("code", {}, name)), make("dd", {}, text)];

  function told(schema, required) {
    const kept = "default" in schema && schema.default !== null ? `; default ${JSON.stringify(schema.default)}` : "";
    const more = schema.description ? `. ${schema.description}` : "";
    return `${typeOf(schema)}${required ? "" : ", may be left out"}${kept}${more}`;
  }

  function example(path, method, operation) {
    const address = `${location.origin}${path}`;
    if (method === "get") {
      const required = (operation.parameters || []).filter((each) => each.required);
      const values = required.map((each) => `${each.name}=${each.name === "model" ? "0" : "..."}`);
      return `curl '${address}${values.length ? `?${values.join("&")}` : ""}'`;
    }
    const fields = named(operation.requestBody.content["application/json"].schema.$ref);
    const values = Object.entries(fields.properties)
      .filter(([, schema]) => schema.examples)
      .map(([name, schema]) => [name, schema.examples[0]]);
    return `curl '${address}' --json '${JSON.stringify(Object.fromEntries(values))}'`;
  }

  function inputs(operation) {
    if (operation.requestBody) {
      const schema = named(operation.requestBody.content["application/json"].schema.$ref);
      const required = schema.required || [];
      return Object.entries(schema.properties).map(([name, field]) => fact(name, told(field, required.includes(name))));
    }
    return (operation.parameters || []).map((each) =>
      fact(each.name, told({ description: each.description, ...each.schema }, each.required)),
    );
  }

  function fields(schema, seen = new Set()) {
    if (schema.type === "array" && schema.items) return fields(schema.items, seen);
    if (!schema.$ref || seen.has(schema.$ref)) return [];
    seen.add(schema.$ref);
    const found = named(schema.$ref);
    const own = Object.entries(found.properties || {});
    const list = make("dl", { class: "facts" }, own.map(([name, field]) => fact(name, typeOf(field))));
    const parts = own.flatMap(([, field]) => [field, ...(field.anyOf || [])]);
    const title = make("p", { class: "muted" }, `${schema.$ref.split("/").pop()}: ${found.description || ""}`);
    return [title, list, ...parts.flatMap((part) => fields(part, seen))];
  }

  function section(path, method, operation) {
    const result = operation.responses["200"].content["application/json"].schema;
    const asked = inputs(operation);
    return make(
      "section",
      { class: "card" },
      make("h2", {}, make("code", {}, `${method.toUpperCase()} ${path}`)),
      make("p", {}, plain(operation.description || operation.summary || "")),
      asked.length ? make("dl", { class: "facts" }, asked) : [],
      make("pre", { tabindex: "0" }, example(path, method, operation)),
      make("details", {}, make("summary", {}, `Answer: ${typeOf(result)}`), fields(result)),
    );
  }

  async function start() {
    const place = document.getElementById("operations");
    try {
      const described = await (await fetch("/api/openapi.json")).json();
      schemas = described.components.schemas;
      document.getElementById("description").textContent = plain(described.info.description);
      const sections = Object.entries(described.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => section(path, method, operation)),
      );
      place.replaceChildren(...sections);
    } catch (error) {
      place.replaceChildren(make("p", { class: "error" }, `The description cannot be read: ${error.message}`));
    }
  }

  start();
})();
