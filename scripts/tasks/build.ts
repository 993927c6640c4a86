import { engineBuildSteps } from './engine.ts'
import { runSteps } from './run.ts'
import { buildSteps, labSteps } from './steps.ts'

await runSteps([...buildSteps, ...labSteps, ...engineBuildSteps()])
