// Runs one server for each name, and has clients reach them by these names through a gateway.
// Arguments: the port of the gateway, then `name=port` of each server.
// Prints one JSON object: {name: {motd, farewell}}, and what a name that leads nowhere is answered.
"use strict"
const net = require("net")
const mc = require("minecraft-protocol")

const VERSION = "1.19.4" // the last that says why it ends a connection in JSON

function serve(name, port) {
  const server = mc.createServer({ host: "127.0.0.1", port, "online-mode": false, version: VERSION, motd: name })
  server.on("playerJoin", client => client.end(`${client.username} has reached ${name}`))
  return new Promise(resolve => server.once("listening", () => resolve(server)))
}

// The client connects to the name that its handshake says, so the socket is made here.
function ask(name, port) {
  const stream = net.connect(port, "127.0.0.1")
  return mc.ping({ host: name, port, version: VERSION, stream })
}

function play(name, port) {
  const client = mc.createClient({
    host: "127.0.0.1",
    port,
    fakeHost: name,
    username: "Ann",
    auth: "offline",
    version: VERSION,
    hideErrors: true,
  })
  return new Promise(resolve => {
    client.once("kick_disconnect", packet => resolve(JSON.parse(packet.reason).text))
    client.once("end", reason => resolve(reason))
    client.on("error", () => {})
  })
}

async function main([port, ...places]) {
  const servers = []
  const found = {}
  for (const place of places) {
    const [name, at] = place.split("=")
    servers.push(await serve(name, Number(at)))
  }
  for (const place of places) {
    const name = place.split("=")[0]
    const status = await ask(name, Number(port))
    found[name] = { motd: status.description.text, farewell: await play(`${name}.\0FML3\0`, Number(port)) }
  }
  found.unknown = { farewell: await play("nowhere.example.org", Number(port)) }
  for (const server of servers) server.close()
  console.log(JSON.stringify(found))
  process.exit(0)
}

main(process.argv.slice(2)).catch(error => {
  console.error(error.stack || String(error))
  process.exit(1)
})
