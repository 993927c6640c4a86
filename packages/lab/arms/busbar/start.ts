/** Runs the app whose config is in `APP` (JSON) under Busbar, with the command that users run. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const folder = process.env['APP_FOLDER'] ?? '.'
writeFileSync(join(folder, 'busbar.config.json'), process.env['APP'] ?? '{}')
const bin = createRequire(import.meta.url)
  .resolve('busbar/package.json')
  .replace(/package\.json$/, 'bin/busbar.js')
process.argv.splice(1, process.argv.length, bin, 'start', folder, '--once')
await import(pathToFileURL(bin).href)
