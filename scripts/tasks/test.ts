import { engineBuildSteps, engineCheckSteps } from './engine.ts'
import { run, runSteps } from './run.ts'
import {
  acceleratedSuites,
  buildSteps,
  checkSteps,
  comparingSuites,
  longSuites,
  packSteps,
  testStepsOn,
  withoutAccelerators,
  withPackages,
} from './steps.ts'

// `npm test -- packages/busbar/test/config` builds and runs only these tests, with `--node=26` on
// Node 26.
const args = process.argv.slice(2)
await runSteps(buildSteps)
if (args.length === 0) {
  // At the same time: the checks of types use one processor for long, and the engine's tests wait.
  await Promise.all([runSteps(checkSteps), runSteps([...engineBuildSteps(), ...engineCheckSteps()])])
  await runSteps(packSteps)
}
// `npm run test:full` runs all suites on both release lines, which takes too long here. The
// complete run comes last, so that its summary is the end of the output.
if (args.length === 0) {
  await runSteps(testStepsOn('26', 'comparisons', comparingSuites), withPackages)
  await runSteps(testStepsOn('24', 'without accelerators, comparisons', acceleratedSuites), {
    ...withPackages,
    ...withoutAccelerators,
  })
}
process.exit(
  args.length > 0
    ? await run('node', ['scripts/run-tests.ts', ...args])
    : await run('node', ['scripts/run-tests.ts', ...longSuites.map((suite) => `--without=${suite}`)], withPackages),
)
