// No validator badge and no outside fonts: the page works without any network beyond this server.
SwaggerUIBundle({ url: "/openapi.json", dom_id: "#docs", deepLinking: true, validatorUrl: null });
