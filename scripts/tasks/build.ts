import { buildSteps } from './steps.ts'
import { runSteps } from './run.ts'

await runSteps(buildSteps)
