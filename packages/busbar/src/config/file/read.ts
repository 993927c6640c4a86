import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { BusbarError } from '../../contract/errors.ts'
import type { ConfigContext } from '../define.ts'
import { typeImportHint } from '../type-import.ts'
import { positionText } from './json-text.ts'

/** Whatever stands in a stack from here on is ours, and says nothing of the user's config. */
const ownFile = fileURLToPath(import.meta.url)

let loads = 0

/** Milliseconds that a config may take: long enough to ask a slow server for a secret. */
const longest = 60_000

/** What a config file says, as it stands there: JSON parsed, a module imported, a function called. */
export async function readConfig(file: string, context: ConfigContext, patience: number = longest): Promise<unknown> {
  return file.endsWith('.json') ? readJson(file) : readModule(file, context, patience)
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => unreadable(file, (error as Error).message, error))
  const content = text.replace(/^\uFEFF/, '')
  try {
    return JSON.parse(content)
  } catch (error) {
    return unreadable(file, positionText(content, error), error, /^\s*\/[/*]/m.test(content) ? commentsHint : undefined)
  }
}

const commentsHint = 'JSON has no comments; a busbar.config.ts may have them.'

async function readModule(file: string, context: ConfigContext, patience: number): Promise<unknown> {
  const url = pathToFileURL(file)
  // `dev` reads a config again: ESM is cached by URL, CommonJS by file name.
  if (loads++ > 0) url.search = `?busbar=${loads}`
  delete createRequire(import.meta.url).cache[file]
  try {
    return await orUnfinished(evaluate(url, file, context), file, patience)
  } catch (error) {
    if (BusbarError.is(error)) throw error
    return unreadable(file, await theirStack(error, file), error, hintFor(error))
  }
}

async function evaluate({ href }: URL, file: string, context: ConfigContext): Promise<unknown> {
  const module = (await import(href)) as { default?: unknown }
  if (!('default' in module)) throw noDefault(file)
  const config: unknown = await module.default
  return typeof config === 'function' ? await (config as (context: ConfigContext) => unknown)(context) : config
}

/** A promise that nothing can settle any more keeps no process: `busbar check` would end with 0 and without a word. */
async function orUnfinished(config: Promise<unknown>, file: string, patience: number): Promise<unknown> {
  const { promise: unfinished, reject } = Promise.withResolvers<never>()
  const fail = (why: string): void =>
    reject(new BusbarError('CONFIG_UNREADABLE', { message: `${file} cannot be read: ${why}` }))
  const onBeforeExit = (): void => fail('it waits for a promise that nothing can settle any more')
  process.once('beforeExit', onBeforeExit)
  const timer = setTimeout(() => fail(`it has not finished within ${patience / 1000} seconds`), patience).unref()
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
    hint: 'Write: export default defineApp({ … })',
  })
}

function hintFor(error: unknown): string | undefined {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return 'Types are stripped, not compiled: write it without enums, namespaces and parameter properties.'
  if (code === 'ERR_MODULE_NOT_FOUND' && String(message).includes("package 'busbar'"))
    return 'Install busbar beside the config (npm install busbar), or export the plain object without defineApp().'
  return typeImportHint(error)
}

function unreadable(file: string, reason: string, cause: unknown, hint?: string): never {
  throw new BusbarError('CONFIG_UNREADABLE', {
    message: `${file} cannot be read: ${reason}`,
    cause,
    ...(hint !== undefined && { hint }),
  })
}

/** The error with the frames of the user's files only, and the place of a syntax error. */
async function theirStack(thrown: unknown, file: string): Promise<string> {
  if (!(thrown instanceof Error)) return `it threw ${String(thrown)}, which is no error`
  const lines = (thrown.stack ?? String(thrown)).replaceAll(/\?busbar=\d+/g, '').split('\n')
  const ours = lines.findIndex((line) => line.includes(ownFile))
  const theirs = lines
    .slice(0, ours < 0 ? undefined : ours)
    .filter((line) => !/^\s+at .*(?:node:|<anonymous>)/.test(line))
  const isPlaced = theirs.length > 1
  return (
    (thrown instanceof SyntaxError && !isPlaced ? await checkSyntax(file) : undefined) ?? theirs.join('\n').trimEnd()
  )
}

/** V8 keeps the place of a syntax error in an ES module to itself; `node --check` prints it. */
async function checkSyntax(file: string): Promise<string | undefined> {
  try {
    await promisify(execFile)(process.execPath, ['--check', file], { env: {}, timeout: 10_000 })
    return undefined
  } catch (error) {
    const said = (error as { stderr?: string }).stderr ?? ''
    const own = said.split('\n').filter((line) => !/^\s+at |^Node\.js v/.test(line))
    return own.join('\n').trim() || undefined
  }
}
