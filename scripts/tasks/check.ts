import { engineBuildSteps, engineCheckSteps } from './engine.ts'
import { runSteps } from './run.ts'
import { buildSteps, checkSteps } from './steps.ts'

await runSteps([...buildSteps, ...checkSteps, ...engineBuildSteps(), ...engineCheckSteps()])
