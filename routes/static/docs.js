// No validator badge and no outside fonts: the page works without any network beyond this server. Operations and schemas
// are drawn when they are opened.

// swagger-ui's own resolver of OpenAPI 3.1 takes the whole document apart for each part that is shown: seconds for
// hundreds of operations. Ours has references within itself alone, so the part is enough. A reference to what encloses
// it stays one. What several schemas say together (`allOf`) is joined, so that examples show it.
function joined(one, other) {
  const properties = { ...one.properties };
  for (const [name, schema] of Object.entries(other.properties ?? {})) properties[name] = { ...properties[name], ...schema };
  return { ...one, ...other, properties };
}

function resolved(document, value, above = []) {
  if (Array.isArray(value)) return value.map((item) => resolved(document, item, above));
  if (value === null || typeof value !== "object") return value;
  const { $ref: name, ...beside } = value;
  if (typeof name !== "string") {
    const { allOf, ...whole } = Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, resolved(document, item, above)]),
    );
    return allOf === undefined ? whole : [whole, ...allOf].reduce(joined);
  }
  if (above.includes(name)) return value;
  const target = name.slice(2).split("/").reduce((found, key) => found[key.replaceAll("~1", "/").replaceAll("~0", "~")], document);
  return { ...resolved(document, target, [...above, name]), ...resolved(document, beside, above) };
}

const Within = () => ({
  fn: {
    resolveSubtree: async (document, path) => {
      const part = path.reduce((found, key) => found?.[key], document);
      return { spec: resolved(document, part), errors: [] };
    },
  },
});

fetch("/openapi.json").then((response) => response.json()).then((spec) => SwaggerUIBundle({
  spec,
  dom_id: "#docs",
  deepLinking: true,
  validatorUrl: null,
  docExpansion: "none",
  defaultModelsExpandDepth: -1,
  plugins: [Within],
}));
