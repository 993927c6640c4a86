import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { packEngineTo, packEntranceTo } from '../../../../../scripts/pack-native.ts'
import { packTo } from '../../../../../scripts/pack.ts'

/** The folder of the packages that a complete run has packed. Undefined for a single test file. */
export const packagesFolder = process.env['BUSBAR_TEST_PACKAGES']

const packers = {
  busbar: { prefix: /^busbar-\d/, pack: (place: string) => packTo(place, 'busbar') },
  lab: { prefix: /^busbar-lab-/, pack: (place: string) => packTo(place, 'lab') },
  'create-busbar': { prefix: /^create-busbar-/, pack: (place: string) => packTo(place, 'create-busbar') },
  entrance: { prefix: /^busbar-entrance-/, pack: packEntranceTo },
  engine: { prefix: /^busbar-load-/, pack: packEngineTo },
} as const

/** Returns the path of a tarball in `place`: a copy of the one packed before, else a new one. */
export async function packedIn(place: string, name: keyof typeof packers): Promise<string> {
  const { prefix, pack } = packers[name]
  const file =
    packagesFolder === undefined ? undefined : (await readdir(packagesFolder)).find((found) => prefix.test(found))
  if (file === undefined) return (await pack(place))!
  await copyFile(join(packagesFolder!, file), join(place, file))
  return join(place, file)
}
