/**
 * Finds the native entrance. It is one library for the whole process: the main thread loads it
 * before any worker does, and it is never unloaded.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { BusbarError } from '../contract/errors.ts'
import type { EntranceLibrary, EntranceLimits, NativeEntrance } from '../shared/entrance/entrance.ts'
import { recordFormat } from './records.ts'
import { packageFile, packageVersion } from '../shared/package-files.ts'

/** A worker's channel to the native entrance: requests come in batches, replies go in batches. */
export interface EntranceChannel {
  readonly inFlight: number
  /** Of these, connections that were upgraded. */
  readonly tunnels: number
  /** Connections of clients, of all workers, without those that were upgraded. */
  readonly clients: number
  /** The two areas that {@link take} fills in turns, beginning with the first. */
  requests(index: 0 | 1): ArrayBuffer
  /** Where replies are written before {@link send}. */
  replies(): ArrayBuffer
  cells(): ArrayBuffer
  /** The length of the next batch; its complement (negative) where another one waits behind it. */
  take(): number
  /** Calls `onWake` again. Node runs the ticks and promises of the current call before it. */
  again(): void
  send(length: number): void
  /** Microseconds, as in a request's `arrived`. */
  clock(): number
  /** Gets a growing share of the requests for this many milliseconds, beside the other workers. */
  startSlowly(window: number): void
  /** Takes no more requests. */
  drain(): void
  /** Takes no new requests for now, or takes them again. */
  pause(isPaused: boolean): void
  /** Gives back what was not begun. */
  close(): void
}

export interface EntranceAddon {
  readonly NativeEntrance: new (limits: EntranceLimits) => NativeEntrance
  /**
   * `values`: requests as values, for the exchange. Otherwise as text, for a parser. `onWake` must
   * not throw.
   */
  readonly EntranceChannel: new (entrance: number, values: boolean, onWake: () => void) => EntranceChannel
  /** Undefined in the first binaries. `format`: the version of the records and classes. */
  readonly build?: () => { readonly version: string; readonly format: number }
}

/** The package with the binary for this platform. */
export const entrancePackage = `@busbar/entrance-${process.platform}-${process.arch}`

/** Throws ENTRANCE_UNAVAILABLE. */
export function entranceLibrary(): EntranceLibrary {
  const file = findEntrance()
  if (file === undefined)
    throw unavailable('there is no binary of the native entrance for this platform', undefined, missingHint)
  const addon = loadEntrance(file)
  return { file, mismatch: mismatchOf(file, addon), open: (limits) => new addon.NativeEntrance(limits) }
}

/**
 * Why the binary cannot serve this library: it was built for another version of it. Undefined if it
 * can.
 */
function mismatchOf(file: string, { build }: EntranceAddon): string | undefined {
  const version = packageVersion()
  const its = build?.()
  if (its?.version === version && its.format === recordFormat) return undefined
  const same = its?.version === version
  return `${file} is of ${same ? 'another build of ' : ''}version ${its?.version ?? 'unknown'}, and busbar is of version ${version}`
}

/** `file`: as {@link findEntrance} finds it. Throws ENTRANCE_UNAVAILABLE. */
export function loadEntrance(file: string): EntranceAddon {
  const module = { exports: {} }
  try {
    process.dlopen(module, file)
  } catch (error) {
    throw unavailable(`the native entrance ${file} cannot be loaded: ${(error as Error).message}`, error, unusableHint)
  }
  return module.exports as EntranceAddon
}

/** Undefined where there is none for this platform. */
export function findEntrance(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(entrancePackage)
  } catch {
    return builtHere()
  }
}

/** In the repository of Busbar: what cargo has built. */
function builtHere(): string | undefined {
  const root = packageFile('../../')
  if (!existsSync(new URL('crates/entrance/Cargo.toml', root))) return undefined
  const name = libraries[process.platform] ?? 'libbusbar_entrance.so'
  const built = ['release', 'debug'].map((profile) => new URL(`target/${profile}/${name}`, root))
  const file = built.find((url) => existsSync(url))
  return file && fileURLToPath(file)
}

const libraries: Readonly<Record<string, string>> = {
  darwin: 'libbusbar_entrance.dylib',
  win32: 'busbar_entrance.dll',
}

const missingHint = `Install ${entrancePackage}; in the repository, run npm run build with a Rust toolchain. Or write entrance: 'portable'.`
const unusableHint = `Install the version of ${entrancePackage} that belongs to this version of Busbar, or write entrance: 'portable'.`

function unavailable(message: string, cause: unknown, hint: string): BusbarError {
  return new BusbarError('ENTRANCE_UNAVAILABLE', { message, hint, cause })
}
