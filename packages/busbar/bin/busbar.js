#!/usr/bin/env node
// Old syntax on purpose: an old Node must be able to read this file in order to say one clear
// sentence.
// Handing an accepted connection to a thread (`postMessage(socket, [socket])`) came with Node 24.20
// and 26.6.
var version = process.versions.node
var parts = version.split('.').map(Number)
var supported = (parts[0] === 24 && parts[1] >= 20) || (parts[0] === 26 && parts[1] >= 6) || parts[0] > 26

if (!supported) {
  console.error(
    'busbar needs Node >= 24.20 or >= 26.6, and this is Node ' + version + '. Install a newer Node and try again.',
  )
  process.exit(2)
} else {
  import('../dist/cli/main.js').then(
    function (cli) {
      return cli.main(process.argv.slice(2))
    },
    function (error) {
      console.error(error)
      process.exit(1)
    },
  )
}
