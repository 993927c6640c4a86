import { mkdir } from 'node:fs/promises'
import { packages, packTo } from '../pack.ts'
import { runSteps } from './run.ts'
import { buildSteps, labSteps } from './steps.ts'

// `npm run pack` leaves what is published in `dist/`, one tarball for each package.
await runSteps([...buildSteps, ...labSteps])
await mkdir('dist', { recursive: true })
for (const name of packages) console.log(await packTo('dist', name))
