import { fileURLToPath, pathToFileURL } from 'node:url'
import { runSteps } from './run.ts'
import { buildSteps } from './steps.ts'

// `npm start -- --workers 2` reaches the command; without a folder it is the example that runs.
const args = process.argv.slice(2)
const folder = args[0] !== undefined && !args[0].startsWith('-') ? [] : ['examples/fanout']
await runSteps(
  folder.length > 0 ? [...buildSteps, ['certificate', 'node', 'examples/fanout/setup/certificate.ts']] : buildSteps,
)
// In this process: one less between the terminal and the app that has to pass signals on. The command starts itself once
// more by the words that it was called with, so they name it.
const bin = fileURLToPath(new URL('../../packages/busbar/bin/busbar.js', import.meta.url))
process.argv.splice(1, Infinity, bin, 'start', ...folder, ...args)
await import(pathToFileURL(bin).href)
