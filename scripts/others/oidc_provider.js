// A provider with one client, whose sign-in page takes any name. Arguments: port, client id, client secret, redirect
// address. Runs until it is killed; prints a line once it listens.
"use strict"
const { pathToFileURL } = require("node:url")

async function main([port, clientId, clientSecret, redirectUri]) {
  const { default: Provider } = await import(pathToFileURL(require.resolve("oidc-provider")))
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    pkce: { required: () => true },
    claims: { openid: ["sub"], profile: ["name"] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, name: `${id} of oidc-provider` }) }),
  })
  provider.listen(Number(port), "127.0.0.1", () => console.log("listens"))
}

main(process.argv.slice(2)).catch(error => {
  console.error(error.stack || String(error))
  process.exitCode = 1
})
