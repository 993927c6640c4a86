import { run } from './run.ts'
import { runSteps } from './run.ts'
import { buildSteps, checkSteps } from './steps.ts'

// `npm test -- packages/busbar/test/config` runs just these tests, after the build that they need.
const only = process.argv.slice(2)
await runSteps(only.length === 0 ? [...buildSteps, ...checkSteps] : buildSteps)
process.exit(await run('node', ['scripts/run-tests.ts', ...only]))
