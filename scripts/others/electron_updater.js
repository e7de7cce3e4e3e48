// Reads a feed as electron-updater's generic provider does, downloads its files, and asks for the staging match.
// Arguments: the feed's folder, channel, platform (win32, darwin, linux), a folder for downloads, user ids.
// Prints one JSON object.
"use strict"
const fs = require("fs")
const http = require("http")
const path = require("path")
const { CancellationToken } = require("builder-util-runtime")
const { AppUpdater } = require("electron-updater/out/AppUpdater")
const { ElectronHttpExecutor } = require("electron-updater/out/electronHttpExecutor")
const { GenericProvider } = require("electron-updater/out/providers/GenericProvider")

// All but the sockets, which are Electron's there.
class NodeExecutor extends ElectronHttpExecutor {
  createRequest(options, callback) {
    return http.request(options, callback)
  }
}

async function main([url, channel, platform, folder, ...userIds]) {
  const executor = new NodeExecutor()
  const updater = { channel: null, isAddNoCacheQuery: true }
  const provider = new GenericProvider({ provider: "generic", url, channel }, updater, {
    isUseMultipleRangeRequest: true,
    platform,
    executor,
  })
  provider.setRequestHeaders({ "x-user-staging-id": userIds[0] })
  const info = await provider.getLatestVersion()
  const files = []
  for (const file of provider.resolveFiles(info)) {
    const target = path.join(folder, path.basename(decodeURIComponent(file.url.pathname)))
    const { sha512, sha2 } = file.info
    await executor.download(file.url, target, { sha512, sha2, cancellationToken: new CancellationToken() })
    files.push({ name: path.basename(target), size: fs.statSync(target).size })
  }
  const matches = {}
  for (const id of userIds) {
    const asked = { stagingUserIdPromise: { value: Promise.resolve(id) }, _logger: { info() {}, warn() {} } }
    matches[id] = await AppUpdater.prototype.isStagingMatch.call(asked, info)
  }
  console.log(JSON.stringify({ info, files, matches }))
}

main(process.argv.slice(2)).catch(error => {
  console.error(error.stack || String(error))
  process.exitCode = 1
})
