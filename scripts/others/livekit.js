// Reads a token as LiveKit's server side does. Arguments: key, secret, token. Prints its claims as JSON.
"use strict"
const { TokenVerifier } = require("livekit-server-sdk")

async function main([key, secret, token]) {
  console.log(JSON.stringify(await new TokenVerifier(key, secret).verify(token, "60s")))
}

main(process.argv.slice(2)).catch(error => {
  console.error(error.stack || String(error))
  process.exitCode = 1
})
