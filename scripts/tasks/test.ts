import { engineBuildSteps, engineCheckSteps } from './engine.ts'
import { run, runSteps } from './run.ts'
import { buildSteps, checkSteps, semanticsSuites, testStepsOn } from './steps.ts'

// `npm test -- packages/busbar/test/config` runs just these tests, after the build that they need; `--node=26` on that line.
const args = process.argv.slice(2)
await runSteps(buildSteps)
if (args.length === 0) await runSteps([...checkSteps, ...engineBuildSteps(), ...engineCheckSteps()])
const code = await run('node', ['scripts/run-tests.ts', ...args])
if (code !== 0 || args.length > 0) process.exit(code)
// All suites on both lines would not fit into what a push may take: `npm run test:full` has them.
await runSteps(testStepsOn('26', 'semantics', semanticsSuites))
