import { fileURLToPath, pathToFileURL } from 'node:url'
import { runSteps } from './run.ts'
import { buildSteps } from './steps.ts'

// `npm start -- --workers 2` passes the flag to the command. Without a folder it runs the example.
const args = process.argv.slice(2)
const folder = args[0] !== undefined && !args[0].startsWith('-') ? [] : ['examples/fanout']
await runSteps(
  folder.length > 0 ? [...buildSteps, ['certificate', 'node', 'examples/fanout/setup/certificate.ts']] : buildSteps,
)
// Runs the command in this process, since another process would have to forward signals. The
// command restarts itself with its command line, so `process.argv` must name it.
const bin = fileURLToPath(new URL('../../packages/busbar/bin/busbar.js', import.meta.url))
process.argv.splice(1, Infinity, bin, 'start', ...folder, ...args)
await import(pathToFileURL(bin).href)
