import { engineBuildSteps } from './engine.ts'
import { runSteps } from './run.ts'
import { buildSteps, labSteps } from './steps.ts'

// `npm run bench -- fanout --quick` builds, then runs `busbar bench`, the command of users.
const args = process.argv.slice(2)
await runSteps([...buildSteps, ...labSteps, ...engineBuildSteps()])
process.argv.splice(2, Infinity, 'bench', ...args)
await import(new URL('../../packages/busbar/bin/busbar.js', import.meta.url).href)
