/**
 * Adds to `package-lock.json` what `npm install` leaves out where the registry in use does not have it: the packages for
 * other platforms that an optional dependency names. Without them `npm ci` refuses the whole file on every machine. Run
 * it after `npm install` has changed the lock; a test says when it is needed. Their integrity is unknown here, so npm
 * takes it from the registry on the platform concerned.
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

const platform =
  /[/-](?<os>android|darwin|freebsd|linux|openharmony|win32)-(?<cpu>arm64|arm|ia32|ppc64|riscv64|s390x|x64)(?:-(?<abi>\w+))?$/
/** Instead of machine code: npm takes it for a processor, and installs it where that is asked for. */
const webAssembly = /[/-]wasm32(?:-wasi)?$/

/** Paths of optional packages that the lock names without having them, and what it should have. */
export function missingOptionals(lock: Lock): Record<string, LockedPackage> {
  const missing: Record<string, LockedPackage> = {}
  for (const owner of Object.values(lock.packages))
    for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
      const path = `node_modules/${name}`
      const place = placeOf(name)
      if (lock.packages[path] !== undefined || place === undefined) continue
      missing[path] = { version, ...place, ...(owner.dev === true && { dev: true }), optional: true }
    }
  return missing
}

function placeOf(name: string): Pick<LockedPackage, 'os' | 'cpu' | 'libc'> | undefined {
  if (webAssembly.test(name)) return { cpu: ['wasm32'] }
  const { os, cpu, abi } = platform.exec(name)?.groups ?? {}
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
