import { runSteps } from './run.ts'
import { buildSteps } from './steps.ts'

// `npm run start:items -- --preload 10000 --tls`: the example parses its own flags.
await runSteps(buildSteps)
await import('../../examples/items/start.ts')
