import { execFile } from 'node:child_process'
import { inspect, promisify } from 'node:util'
import { BusbarError } from '../../../contract/errors.ts'
import { typeImportHint } from '../../../shared/type-import-hint.ts'

/** CONFIG_UNREADABLE for what a config has thrown. Stack frames from `caller` on are Busbar's. */
export async function configError(thrown: unknown, file: string, caller: string): Promise<BusbarError> {
  const hint = thrown instanceof Error ? hintFor(thrown) : undefined
  return new BusbarError('CONFIG_UNREADABLE', {
    message: `${file} cannot be read: ${await reasonOf(thrown, file, caller)}`,
    cause: thrown,
    ...(hint !== undefined && { hint }),
  })
}

function hintFor(error: Error): string | undefined {
  const { code, message } = error as { code?: unknown; message: unknown }
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return 'Node strips types and does not compile: avoid enums, namespaces and parameter properties.'
  if (code === 'ERR_MODULE_NOT_FOUND' && String(message).includes("package 'busbar'"))
    return 'Install busbar next to the config (npm install busbar), or export a plain object without defineApp().'
  if (code === 'ERR_WORKER_UNSUPPORTED_OPERATION')
    return 'A config is read in a thread, where Node does not change what belongs to the whole process.'
  return typeImportHint(error)
}

/** The error with the frames of the user's files only, and with the position of a syntax error. */
async function reasonOf(thrown: unknown, file: string, caller: string): Promise<string> {
  if (!(thrown instanceof Error)) return `it threw ${described(thrown)}, which is not an Error`
  const stack: unknown = thrown.stack
  const lines = (typeof stack === 'string' ? stack : String(thrown)).split('\n')
  const ours = lines.findIndex((line) => line.includes(caller))
  const users = lines
    .slice(0, ours < 0 ? undefined : ours)
    .filter((line) => !/^\s+at .*(?:node:|<anonymous>)/.test(line))
  const hasPosition = users.length > 1
  return (
    (thrown instanceof SyntaxError && !hasPosition ? await checkSyntax(file) : undefined) ?? users.join('\n').trimEnd()
  )
}

function described(thrown: unknown): string {
  try {
    return typeof thrown === 'string' ? thrown : inspect(thrown, { depth: 0, breakLength: Infinity })
  } catch {
    // Its own code describes it.
    return 'an object'
  }
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
