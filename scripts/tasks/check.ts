import { buildSteps, checkSteps } from './steps.ts'
import { runSteps } from './run.ts'

await runSteps([...buildSteps, ...checkSteps])
