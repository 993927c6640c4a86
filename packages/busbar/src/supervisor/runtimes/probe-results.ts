/**
 * The results of probes, kept from one start to the next: probing takes a third of a second of a
 * processor. They hold for all that can change what a probe finds: the binary of Node, its flags
 * and variables, and the code of Busbar. Only the published package keeps them in a file, since
 * there file names and contents identify the code, and only successes: what fails is probed again.
 * A process that starts several apps probes once.
 */
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AcceleratorName, acceleratorNames, type AcceleratorState } from '../../shared/accelerators.ts'
import { isBundled, moduleFile, packageVersion } from '../../shared/package-files.ts'
import { cacheFolder, isPrivateFolder } from '../../shared/process/cache-folder.ts'
import { probeAccelerators } from './probe-thread.ts'

/** The content of a file: the results under their identity. */
interface Kept {
  readonly identity: string
  readonly states: readonly AcceleratorState[]
}

/** Of this process: its Node does not change. */
const found = new Map<string, readonly AcceleratorState[]>()

/**
 * Which of the accelerators in `wanted` work on this Node, from an earlier start or by probes.
 * `entry`: of another worker, whose results are not kept.
 */
export async function knownAccelerators(
  wanted: readonly AcceleratorName[],
  entry?: URL,
): Promise<readonly AcceleratorState[]> {
  if (entry !== undefined) return await probeAccelerators(wanted, entry)
  const key = wanted.toSorted().join()
  const states = found.get(key) ?? (await keptOrProbed(wanted))
  if (allWork(wanted, states)) found.set(key, states)
  return states
}

async function keptOrProbed(wanted: readonly AcceleratorName[]): Promise<readonly AcceleratorState[]> {
  const identity = identityOf(wanted)
  const file = identity && fileIn(cacheFolder(process.env), wanted)
  if (identity === undefined || file === undefined) return await probeAccelerators(wanted)
  const known = read(file, identity)
  if (known !== undefined) return known
  const states = await probeAccelerators(wanted)
  if (allWork(wanted, states)) keep(file, { identity, states })
  return states
}

function allWork(wanted: readonly AcceleratorName[], states: readonly AcceleratorState[]): boolean {
  return wanted.every((name) => states.some((state) => state.name === name && state.on))
}

/**
 * All that a result depends on. Undefined where that cannot be told: Busbar's sources and its build
 * change without a new version, flags of Node may load modules that change it, and shared libraries
 * change without the binary.
 */
function identityOf(wanted: readonly AcceleratorName[]): string | undefined {
  const { execArgv, env } = process
  if (!isBundled() || execArgv.length > 0 || env['NODE_OPTIONS'] !== undefined) return undefined
  if (hasSharedLibraries()) return undefined
  try {
    const binary = realpathSync(process.execPath)
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(binary)
    const code = acceleratorNames.map((name) => contentOf(moduleFile(`accelerators/${name}/index`)))
    const variables = Object.entries(env).filter(([name]) => /^(?:NODE|UV)_/.test(name))
    return hashOf([
      packageVersion(),
      [...wanted].toSorted(),
      [binary, dev, ino, size, mtimeMs, ctimeMs, process.versions, process.arch],
      variables.toSorted(([one], [other]) => (one < other ? -1 : 1)),
      code,
    ])
  } catch {
    return undefined
  }
}

/** Such as libnode and libuv of a distribution. */
function hasSharedLibraries(): boolean {
  return Object.entries(process.config.variables).some(
    ([name, is]) => name.startsWith('node_shared') && String(is) === 'true',
  )
}

/** A hash, since a variable may be a secret. */
function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}

/** An accelerator may have been deleted. */
function contentOf(file: URL): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

/** One for each binary of Node and choice of accelerators. Undefined without a safe folder. */
function fileIn(folder: string, wanted: readonly AcceleratorName[]): string | undefined {
  const name = hashOf([process.execPath, [...wanted].toSorted()]).slice(0, 12)
  return isPrivateFolder(folder) ? join(folder, `probes-${name}.json`) : undefined
}

/** Undefined if there is none, if it is of something else, or damaged. */
function read(file: string, identity: string): Kept['states'] | undefined {
  try {
    const { uid, mode } = lstatSync(file)
    if (process.platform !== 'win32' && (uid !== process.getuid!() || (mode & 0o022) !== 0)) return undefined
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Kept
    return kept.identity === identity ? kept.states : undefined
  } catch {
    return undefined
  }
}

/** A reader never sees half of it. If it cannot be written, the next start probes again. */
function keep(file: string, kept: Kept): void {
  try {
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, JSON.stringify(kept), { mode: 0o600 })
    renameSync(draft, file)
  } catch {
    // See above.
  }
}
