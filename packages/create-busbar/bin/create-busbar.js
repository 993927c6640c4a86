#!/usr/bin/env node
// `npm create busbar [folder]` is `busbar init [folder]`, which has the templates of its own
// version.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const manifest = createRequire(import.meta.url).resolve('busbar/package.json')
process.argv.splice(2, 0, 'init')
await import(pathToFileURL(join(dirname(manifest), 'bin/busbar.js')).href)
