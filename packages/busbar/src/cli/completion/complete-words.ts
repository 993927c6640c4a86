import { constants } from 'node:os'
import { templateNames } from '../../adopt/init/template-names.ts'
import { logLevels } from '../../shared/output/log-levels.ts'
import { findRuns, listRuns } from '../admin/find-runs.ts'
import type { Command, CommandContext, Flag, Flags } from '../command.ts'
import type { Terminal } from '../terminal/terminal.ts'

export interface Suggestion {
  readonly word: string
  readonly about: string
}

type Where = Pick<CommandContext, 'commands' | 'terminal'>

/** `words`: after `busbar`; the last one is to be completed. None: a file may follow. */
export async function completeWords(
  words: readonly string[],
  { commands, terminal }: Where,
): Promise<readonly Suggestion[]> {
  const last = words.at(-1) ?? ''
  const all = await suggestionsFor(words.slice(0, -1), last, { commands, terminal })
  return all.filter(({ word }) => word.startsWith(last))
}

async function suggestionsFor(
  before: readonly string[],
  last: string,
  { commands, terminal }: Where,
): Promise<readonly Suggestion[]> {
  const [name, ...given] = before
  if (name === undefined) return commands.map((command) => ({ word: command.name, about: command.summary }))
  const command = commands.find((one) => one.name === name)
  if (command === undefined) return []
  const flag = valueOf(given.at(-1), command)
  if (flag !== undefined) return await flagValues(flag, terminal)
  if (last.startsWith('-')) return command.flags.map((one) => ({ word: `--${one.name}`, about: one.summary }))
  const operand = command.operands[operandsIn(given, command).length]
  return operand === undefined ? [] : await operandValues(operand, given, terminal)
}

/** The flag whose value follows `word`. */
function valueOf(word: string | undefined, { flags }: Command): Flag | undefined {
  const flag = flags.find(({ name, short }) => word === `--${name}` || word === `-${short}`)
  return flag?.value === undefined ? undefined : flag
}

function operandsIn(given: readonly string[], command: Command): string[] {
  return given.filter((word, at) => !word.startsWith('-') && valueOf(given[at - 1], command) === undefined)
}

async function flagValues({ name }: Flag, terminal: Terminal): Promise<readonly Suggestion[]> {
  if (name === 'app') return await appNames(terminal)
  return (fixedValues[name] ?? []).map(plain)
}

const fixedValues: Partial<Record<keyof Flags, readonly string[]>> = {
  level: logLevels,
  'log-level': logLevels,
  run: ['shared', 'thread', 'process'],
  template: templateNames,
  workers: ['auto'],
}

const fixedOperands: Readonly<Record<string, readonly string[]>> = {
  '<METHOD>': ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
  '<signal>': Object.keys(constants.signals),
  '<cpu|heap>': ['cpu', 'heap'],
  '<systemd>': ['systemd'],
  '<systemd|dockerfile|kubernetes|compose>': ['systemd', 'dockerfile', 'kubernetes', 'compose'],
  '<bash|zsh|fish>': ['bash', 'zsh', 'fish'],
}

async function operandValues(
  operand: string,
  given: readonly string[],
  terminal: Terminal,
): Promise<readonly Suggestion[]> {
  if (operand === '[app]') return await appNames(terminal)
  if (operand === '<service>' || operand === '[service]') return await serviceNames(given, terminal)
  return (fixedOperands[operand] ?? []).map(plain)
}

async function appNames({ env }: Terminal): Promise<readonly Suggestion[]> {
  const { runs } = await listRuns(env)
  return runs.map(({ status: { app } }) => ({ word: app.name, about: app.root }))
}

/** Of the app that the words name, or of the working directory. */
async function serviceNames(given: readonly string[], terminal: Terminal): Promise<readonly Suggestion[]> {
  const at = given.findIndex((word) => word === '--app' || word === '-a')
  try {
    const runs = await findRuns(at < 0 ? undefined : given[at + 1], { terminal, flags: {} })
    return runs[0]!.status.services.map(({ service }) => plain(service))
  } catch {
    // No app runs here.
    return []
  }
}

function plain(word: string): Suggestion {
  return { word, about: '' }
}
