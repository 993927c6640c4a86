import { mkdir, rm } from 'node:fs/promises'
import { packEngineTo, packEntranceTo } from '../pack-native.ts'
import { packages, packTo, publishedPackages } from '../pack.ts'
import { engineBuildSteps } from './engine.ts'
import { root, runSteps } from './run.ts'
import { buildSteps, labSteps } from './steps.ts'

// `npm run pack` writes a tarball per package to `dist/`, as published, and those of the native
// entrance and of the load engine for this platform where there is a Rust toolchain. It builds from
// nothing: the compiler leaves the output of sources that have been renamed, and all of `dist` is
// packed.
for (const name of packages) await rm(`${root}/packages/${name}/dist`, { recursive: true, force: true })
for (const project of ['busbar', 'lab', 'lab/arms'])
  await rm(`${root}/packages/${project}/tsconfig.tsbuildinfo`, { force: true })
await runSteps([...buildSteps, ...labSteps, ...engineBuildSteps()])
await mkdir('dist', { recursive: true })
for (const name of publishedPackages) console.log(await packTo('dist', name))
for (const packed of [await packEntranceTo('dist'), await packEngineTo('dist')])
  if (packed !== undefined) console.log(packed)
