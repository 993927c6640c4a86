import { findEntrance } from '../../packages/busbar/src/entrance/load.ts'
import { engineBuildSteps, engineCheckSteps } from './engine.ts'
import { runSteps } from './run.ts'
import {
  buildSteps,
  checkSteps,
  gatewaySuites,
  packSteps,
  semanticsSuites,
  testStepsOn,
  withoutAccelerators,
  withPackages,
} from './steps.ts'

// `npm run test:full`: everything, including what takes too long for `npm test`.
await runSteps([...buildSteps, ...checkSteps, ...engineBuildSteps(), ...engineCheckSteps(), ...packSteps])
await runSteps([['tests on Node 24', 'node', 'scripts/run-tests.ts'], ...testStepsOn('26', 'tests', [])], withPackages)
await runSteps([
  ['fuzz', 'node', '--conditions=busbar-source', 'packages/busbar/test/raw/fuzz/main.ts', '--count', '30000'],
])
await runSteps([['without the folder of each accelerator', 'node', 'scripts/delete-accelerators.ts']])
await runSteps(
  (['24', '26'] as const).flatMap((line) => testStepsOn(line, 'without accelerators, semantics', semanticsSuites)),
  withoutAccelerators,
)
// The suites of the gateway, through the entrance in Rust, where it was built.
if (findEntrance() !== undefined)
  await runSteps(
    (['24', '26'] as const).flatMap((line) => testStepsOn(line, 'through the native entrance', gatewaySuites)),
    { BUSBAR_ENTRANCE: 'native' },
  )
