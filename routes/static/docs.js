// No validator badge and no outside fonts: the page works without any network beyond this server. Operations and schemas
// are drawn when they are opened: hundreds of both at once keep the page waiting for seconds.
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  validatorUrl: null,
  docExpansion: "none",
  defaultModelsExpandDepth: -1,
});
