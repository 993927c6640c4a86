/**
 * Adds optional packages for other platforms to `package-lock.json`. `npm install` omits them if
 * the registry in use does not have them, and then `npm ci` refuses the file on every machine. Run
 * this after `npm install` has changed the lock file. A test fails if it is needed. The entries
 * have no integrity, so npm takes that from the registry on the platform concerned.
 */
import { readFile, writeFile } from 'node:fs/promises'

interface LockedPackage {
  readonly version?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

interface Lock {
  packages: Record<string, LockedPackage>
}

const platformSuffix =
  /[/-](?<os>android|darwin|freebsd|linux|openharmony|win32)-(?<cpu>arm64|arm|ia32|ppc64|riscv64|s390x|x64)(?:-(?<abi>\w+))?$/
/** npm treats WebAssembly as a processor architecture. */
const webAssembly = /[/-]wasm32(?:-wasi)?$/

/** Entries of optional packages that the lock file refers to and does not have, by path. */
export function missingOptionals(lock: Lock): Record<string, LockedPackage> {
  const missing: Record<string, LockedPackage> = {}
  for (const owner of Object.values(lock.packages))
    for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
      const path = `node_modules/${name}`
      const platform = platformOf(name)
      if (lock.packages[path] !== undefined || platform === undefined) continue
      missing[path] = { version, ...platform, ...(owner.dev === true && { dev: true }), optional: true }
    }
  return missing
}

function platformOf(name: string): Pick<LockedPackage, 'os' | 'cpu' | 'libc'> | undefined {
  if (webAssembly.test(name)) return { cpu: ['wasm32'] }
  const { os, cpu, abi } = platformSuffix.exec(name)?.groups ?? {}
  if (os === undefined || cpu === undefined) return undefined
  const libc = abi?.startsWith('gnu') ? 'glibc' : abi?.startsWith('musl') ? 'musl' : undefined
  return { os: [os], cpu: [cpu], ...(os === 'linux' && libc !== undefined && { libc: [libc] }) }
}

if (import.meta.main) {
  const file = new URL('../package-lock.json', import.meta.url)
  const lock = JSON.parse(await readFile(file, 'utf8')) as Lock
  const packages = Object.entries({ ...lock.packages, ...missingOptionals(lock) })
  lock.packages = Object.fromEntries(packages.toSorted(([one], [other]) => one.localeCompare(other, 'en')))
  await writeFile(file, `${JSON.stringify(lock, undefined, 2)}\n`)
}
