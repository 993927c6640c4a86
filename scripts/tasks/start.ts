import { run } from './run.ts'
import { runSteps } from './run.ts'
import { buildSteps } from './steps.ts'

// `npm start -- --workers 2` reaches the command; without a folder it is the example that runs.
const args = process.argv.slice(2)
const folder = args[0] !== undefined && !args[0].startsWith('-') ? [] : ['examples/fanout']
await runSteps(buildSteps)
process.exit(await run('node', ['packages/busbar/bin/busbar.js', 'start', ...folder, ...args]))
