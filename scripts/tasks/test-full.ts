import { engineBuildSteps, engineCheckSteps } from './engine.ts'
import { runSteps } from './run.ts'
import { buildSteps, checkSteps, semanticsSuites, testStepsOn, withoutAccelerators } from './steps.ts'

// `npm run test:full`: what `npm test` has no time for, too.
await runSteps([
  ...buildSteps,
  ...checkSteps,
  ...engineBuildSteps(),
  ...engineCheckSteps(),
  ['tests on Node 24', 'node', 'scripts/run-tests.ts'],
  ...testStepsOn('26', 'tests', []),
  ['fuzz', 'node', '--conditions=busbar-source', 'packages/busbar/test/raw/fuzz/main.ts', '--count', '30000'],
])
await runSteps([['without the folder of each accelerator', 'node', 'scripts/delete-accelerators.ts']])
await runSteps(
  (['24', '26'] as const).flatMap((line) => testStepsOn(line, 'without accelerators, semantics', semanticsSuites)),
  withoutAccelerators,
)
