import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { BusbarError } from '../../contract/errors.ts'
import type { ConfigContext } from '../define.ts'
import { typeImportHint } from '../../shared/type-import-hint.ts'
import { formatPath } from '../schema/describe.ts'
import { describeJsonError } from './json-error.ts'

/** Stack frames from this file on are Busbar's. */
const ownFile = fileURLToPath(import.meta.url)

let loads = 0

/** Milliseconds: enough for a config that fetches a secret from a slow server. */
const defaultTimeout = 60_000

/** The config before validation: JSON is parsed, a module imported, a function called. */
export async function readConfig(
  file: string,
  context: ConfigContext,
  timeout: number = defaultTimeout,
): Promise<unknown> {
  return file.endsWith('.json') ? readJson(file) : readModule(file, context, timeout)
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => unreadable(file, (error as Error).message, error))
  const content = text.replace(/^\uFEFF/, '')
  const parsed = parseJson(file, content)
  const path = pathOfPrototype(parsed)
  if (path !== undefined) unreadable(file, `${formatPath(path)} is a name that JavaScript keeps for itself`, undefined)
  return parsed
}

function parseJson(file: string, content: string): unknown {
  try {
    return JSON.parse(content)
  } catch (error) {
    return unreadable(
      file,
      describeJsonError(content, error),
      error,
      /^\s*\/[/*]/m.test(content) ? commentsHint : undefined,
    )
  }
}

/** Where a key is `__proto__`. Assignments and the schema would drop it without a word. */
function pathOfPrototype(value: unknown, path: readonly (string | number)[] = []): typeof path | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, part] of Object.entries(value)) {
    const below = [...path, Array.isArray(value) ? Number(key) : key]
    const found = key === '__proto__' ? below : pathOfPrototype(part, below)
    if (found !== undefined) return found
  }
  return undefined
}

const commentsHint = 'JSON has no comments. Use a busbar.config.ts to have them.'

async function readModule(file: string, context: ConfigContext, timeout: number): Promise<unknown> {
  const url = pathToFileURL(file)
  // `busbar dev` reads a config again. Node caches ES modules by URL, CommonJS by file name.
  if (loads++ > 0) url.search = `?busbar=${loads}`
  delete createRequire(import.meta.url).cache[file]
  try {
    return await withTimeout(evaluate(url, file, context), file, timeout)
  } catch (error) {
    if (BusbarError.is(error)) throw error
    return unreadable(file, await userStack(error, file), error, hintFor(error))
  }
}

async function evaluate({ href }: URL, file: string, context: ConfigContext): Promise<unknown> {
  const module = (await import(href)) as { default?: unknown }
  if (!('default' in module)) throw noDefault(file)
  const config: unknown = await module.default
  return typeof config === 'function' ? await (config as (context: ConfigContext) => unknown)(context) : config
}

/**
 * Rejects if the config never settles. A pending promise does not keep a process alive, so without
 * the `beforeExit` listener `busbar check` would exit with 0 and print nothing.
 */
async function withTimeout(config: Promise<unknown>, file: string, timeout: number): Promise<unknown> {
  const { promise: unfinished, reject } = Promise.withResolvers<never>()
  const fail = (why: string): void =>
    reject(new BusbarError('CONFIG_UNREADABLE', { message: `${file} cannot be read: ${why}` }))
  const onBeforeExit = (): void => fail('it awaits a promise that never settles')
  process.once('beforeExit', onBeforeExit)
  const timer = setTimeout(() => fail(`it has not finished within ${timeout / 1000} seconds`), timeout).unref()
  try {
    return await Promise.race([config, unfinished])
  } finally {
    clearTimeout(timer)
    process.off('beforeExit', onBeforeExit)
  }
}

function noDefault(file: string): BusbarError {
  return new BusbarError('CONFIG_INVALID', {
    message: `${file} exports no config`,
    hint: 'Write: export default defineApp({ … }).',
  })
}

function hintFor(error: unknown): string | undefined {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return 'Node strips types and does not compile: avoid enums, namespaces and parameter properties.'
  if (code === 'ERR_MODULE_NOT_FOUND' && String(message).includes("package 'busbar'"))
    return 'Install busbar next to the config (npm install busbar), or export a plain object without defineApp().'
  return typeImportHint(error)
}

function unreadable(file: string, reason: string, cause: unknown, hint?: string): never {
  throw new BusbarError('CONFIG_UNREADABLE', {
    message: `${file} cannot be read: ${reason}`,
    cause,
    ...(hint !== undefined && { hint }),
  })
}

/** The error with the frames of the user's files only, and with the position of a syntax error. */
async function userStack(thrown: unknown, file: string): Promise<string> {
  if (!(thrown instanceof Error)) return `it threw ${String(thrown)}, which is not an Error`
  const lines = (thrown.stack ?? String(thrown)).replaceAll(/\?busbar=\d+/g, '').split('\n')
  const ours = lines.findIndex((line) => line.includes(ownFile))
  const users = lines
    .slice(0, ours < 0 ? undefined : ours)
    .filter((line) => !/^\s+at .*(?:node:|<anonymous>)/.test(line))
  const hasPosition = users.length > 1
  return (
    (thrown instanceof SyntaxError && !hasPosition ? await checkSyntax(file) : undefined) ?? users.join('\n').trimEnd()
  )
}

/**
 * Node does not expose the position of a syntax error in an ES module, but `node --check` prints
 * it.
 */
async function checkSyntax(file: string): Promise<string | undefined> {
  try {
    await promisify(execFile)(process.execPath, ['--check', file], { env: {}, timeout: 10_000 })
    return undefined
  } catch (error) {
    const stderr = (error as { stderr?: string }).stderr ?? ''
    const own = stderr.split('\n').filter((line) => !/^\s+at |^Node\.js v/.test(line))
    return own.join('\n').trim() || undefined
  }
}
