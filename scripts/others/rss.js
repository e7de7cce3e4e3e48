// Reads a feed as feed readers of Node do. Argument: its address. Prints it as JSON.
"use strict"
const Parser = require("rss-parser")

async function main([url]) {
  console.log(JSON.stringify(await new Parser().parseURL(url)))
}

main(process.argv.slice(2)).catch(error => {
  console.error(error.stack || String(error))
  process.exitCode = 1
})
