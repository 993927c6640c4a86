import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The package with the load engine for this platform. */
export const enginePackage = `@busbar/load-${process.platform}-${process.arch}`
export const engineProgram = process.platform === 'win32' ? 'busbar-load.exe' : 'busbar-load'

/** Undefined if the package is not installed. */
export function packagedEngine(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${enginePackage}/package.json`)
    return join(dirname(manifest), engineProgram)
  } catch {
    return undefined
  }
}
