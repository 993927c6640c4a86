import { execFile } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packEngineTo, packEntranceTo } from '../pack-native.ts'
import { packTo } from '../pack.ts'
import { packagesForTests } from './steps.ts'

// `npm test` packs what has been built once, for all tests of packages. Tests of the command line
// run the unpacked `busbar`: it is what users get, and starts in half of the processor time that
// the sources take.
await rm(packagesForTests, { recursive: true, force: true })
const unpacked = join(packagesForTests, 'busbar')
await mkdir(unpacked, { recursive: true })
const [busbar] = await Promise.all([
  packTo(packagesForTests, 'busbar'),
  packTo(packagesForTests, 'lab'),
  packTo(packagesForTests, 'create-busbar'),
  packEntranceTo(packagesForTests),
  packEngineTo(packagesForTests),
])
await promisify(execFile)('tar', ['-xzf', busbar, '-C', unpacked, '--strip-components=1'])
