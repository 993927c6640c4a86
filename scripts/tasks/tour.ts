import { runSteps } from './run.ts'
import { buildSteps } from './steps.ts'

// `npm run tour -- --seconds 2` passes the flags on.
await runSteps(buildSteps)
await import('../tour/tour.ts')
