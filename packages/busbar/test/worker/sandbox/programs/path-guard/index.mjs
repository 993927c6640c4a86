import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { pathToFileURL } from 'node:url'

const byPath = process.argv[1] === fileURLToPath(import.meta.url)
const byUrl = import.meta.url === pathToFileURL(process.argv[1]).href
if (byPath && byUrl) {
  createServer((_, res) => res.end(JSON.stringify({ hello: 'path-guard', args: process.argv.slice(2) }))).listen(3000)
}
