import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { userFolder } from '../../shared/process/user-folders.ts'

/**
 * A folder in the user's state folder, for what outlives a process: the logs of apps in the
 * background, and the list of `busbar save`. Created if it is missing; nobody else can enter it.
 * Throws USAGE if that is not possible.
 */
export function ownFolder(env: NodeJS.ProcessEnv, ...below: readonly string[]): string {
  const folder = ownPath(env, ...below)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new BusbarError('USAGE', {
      message: `${folder} cannot be created: ${(cause as Error).message}`,
      hint: 'Set XDG_STATE_HOME to a folder that this user may write to.',
      cause,
    })
  }
  return folder
}

export function ownPath(env: NodeJS.ProcessEnv, ...below: readonly string[]): string {
  return join(stateFolder(env), ...below)
}

/** The name of a path's files in that folder: readable, and different for each path. */
export function ownName(path: string): string {
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 8)
  return `${basename(path).replaceAll(/[^\w.-]/g, '-')}-${hash}`
}

/**
 * What Busbar keeps of a user's apps between their runs: `$XDG_STATE_HOME/busbar`, else
 * `~/.local/state/busbar`; on Windows below `%LOCALAPPDATA%`.
 */
export function stateFolder({ XDG_STATE_HOME, LOCALAPPDATA }: NodeJS.ProcessEnv = process.env): string {
  const base = process.platform === 'win32' ? LOCALAPPDATA : XDG_STATE_HOME
  return join(userFolder(base, '.local', 'state'), 'busbar')
}
