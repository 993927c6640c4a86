import { engineBuildSteps, engineCheckSteps } from './engine.ts'
import { run, runSteps } from './run.ts'
import { buildSteps, checkSteps, comparingSuites, semanticsSuites, testStepsOn, withoutAccelerators } from './steps.ts'

// `npm test -- packages/busbar/test/config` runs just these tests, after the build that they need; `--node=26` on that line.
const args = process.argv.slice(2)
await runSteps(buildSteps)
if (args.length === 0) await runSteps([...checkSteps, ...engineBuildSteps(), ...engineCheckSteps()])
// All suites on both lines would not fit into what a push may take: `npm run test:full` has them. What is run beside everything on
// the first line comes before that, whose summary is the last thing printed.
if (args.length === 0) {
  await runSteps(testStepsOn('26', 'semantics', semanticsSuites))
  await runSteps(testStepsOn('24', 'without accelerators, comparisons', comparingSuites), withoutAccelerators)
}
process.exit(await run('node', ['scripts/run-tests.ts', ...args]))
