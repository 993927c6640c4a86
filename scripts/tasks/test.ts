import { engineBuildSteps, engineCheckSteps } from './engine.ts'
import { run, runSteps } from './run.ts'
import { buildSteps, checkSteps } from './steps.ts'

// `npm test -- packages/busbar/test/config` runs just these tests, after the build that they need; `--node=26` on that line.
const args = process.argv.slice(2)
await runSteps(buildSteps)
if (args.length === 0) await runSteps([...checkSteps, ...engineBuildSteps(), ...engineCheckSteps()])
process.exit(await run('node', ['scripts/run-tests.ts', ...args]))
