/**
 * Whether work that Node does outside the event loop is still under way. Some of its resources
 * outlast their work until they are collected: those of functions that return when it is done, such
 * as `randomBytes(8)` and `generateKeyPairSync()`, and those of idle streams of zlib. Async hooks
 * get the resources; only the values on them tell the two apart (lib/internal/crypto/*.js,
 * lib/zlib.js).
 */
import { createHook } from 'node:async_hooks'
import { pbkdf2, pbkdf2Sync, randomBytes, scrypt, scryptSync } from 'node:crypto'
import { createDeflateRaw, type DeflateRaw } from 'node:zlib'

/** Undefined for a resource of another type. To be called after the hook's `init`. */
export function isAtWork(type: string, resource: object): boolean | undefined {
  if (ofCrypto.has(type)) return hasCallback(resource)
  return type === 'ZLIB' ? hasInput(resource) : undefined
}

/** The types of node:crypto's jobs (src/async_wrap.h). */
const ofCrypto = new Set([
  'ARGON2REQUEST',
  'CHECKPRIMEREQUEST',
  'CIPHERREQUEST',
  'DERIVEBITSREQUEST',
  'HASHREQUEST',
  'KEYEXPORTREQUEST',
  'KEYGENREQUEST',
  'KEYPAIRGENREQUEST',
  'PBKDF2REQUEST',
  'RANDOMBYTESREQUEST',
  'RANDOMPRIMEREQUEST',
  'SCRYPTREQUEST',
  'SIGNREQUEST',
  'VERIFYREQUEST',
])

/** False for WebCrypto, too, whose jobs have no callback but a promise. */
function hasCallback(job: { readonly ondone?: unknown }): boolean {
  return typeof job.ondone === 'function'
}

function hasInput(handle: object): boolean {
  return Object.values(handle).some((value) => ArrayBuffer.isView(value))
}

/** The result of the probe, which runs when it is first needed: it takes some milliseconds. */
let probed: { readonly fault: string | undefined } | undefined

/** Undefined if {@link isAtWork} tells the truth in this Node. */
export function atWorkFault(): string | undefined {
  probed ??= { fault: probe() }
  return probed.fault
}

function probe(): string | undefined {
  for (const { what, run, expected } of probes) {
    const shown = resourcesOf(run).some(({ type, resource }) => isAtWork(type, resource) === true)
    if (shown !== expected) return `${what} ${expected ? 'does not show' : 'shows'} that work is under way`
  }
  return undefined
}

interface Probe {
  readonly what: string
  readonly run: () => unknown
  readonly expected: boolean
}

const ignore = (): void => {}
const smallStream = (): DeflateRaw => createDeflateRaw({ windowBits: 9, memLevel: 1 })

const probes: readonly Probe[] = [
  { what: 'randomBytes that returned', run: () => randomBytes(1), expected: false },
  { what: 'randomBytes with a callback', run: () => randomBytes(1, ignore), expected: true },
  { what: 'pbkdf2Sync', run: () => pbkdf2Sync('', '', 1, 1, 'sha1'), expected: false },
  { what: 'pbkdf2', run: () => pbkdf2('', '', 1, 1, 'sha1', ignore), expected: true },
  { what: 'scryptSync', run: () => scryptSync('', '', 1, { N: 2 }), expected: false },
  { what: 'scrypt', run: () => scrypt('', '', 1, { N: 2 }, ignore), expected: true },
  { what: 'an idle stream of zlib', run: smallStream, expected: false },
  { what: 'a stream of zlib with input', run: () => smallStream().write('input'), expected: true },
]

/** What async hooks get while `run` runs. */
function resourcesOf(run: () => unknown): { type: string; resource: object }[] {
  const found: { type: string; resource: object }[] = []
  const hook = createHook({ init: (_id, type, _trigger, resource) => void found.push({ type, resource }) }).enable()
  try {
    run()
  } finally {
    hook.disable()
  }
  return found
}
