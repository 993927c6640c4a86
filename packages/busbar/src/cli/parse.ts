import { parseArgs } from 'node:util'
import { closest, distance } from 'fastest-levenshtein'
import { templateNames } from '../adopt/init/template-names.ts'
import { BusbarError } from '../contract/errors.ts'
import { logLevels } from '../shared/output/log-levels.ts'
import type { Command, Flag, Flags } from './command.ts'
import { commands, globalFlags } from './command-table.ts'

export interface ParsedCommandLine {
  /** Undefined for `busbar --version`, `busbar --help` and `busbar` alone. */
  readonly command: Command | undefined
  readonly operands: readonly string[]
  readonly flags: Flags
  /** The unparsed arguments of a command that forwards them. */
  readonly rest: readonly string[]
}

/** Parses a command line, without `node` and the script. Throws USAGE. */
export function parseCommandLine(argv: readonly string[]): ParsedCommandLine {
  const [first, ...rest] = argv
  if (first === undefined) return { command: undefined, operands: [], flags: {}, rest: [] }
  if (first.startsWith('-')) return { ...parseWords(argv, undefined), command: undefined }
  if (first === 'help')
    return {
      command: rest[0] === undefined ? undefined : commandOf(rest[0]),
      operands: [],
      flags: { help: true },
      rest: [],
    }
  const command = commandOf(first)
  if (command.forwards) return { command, operands: [], flags: {}, rest }
  return { ...parseWords(rest, command), command }
}

function commandOf(name: string): Command {
  const found = commands.find((command) => command.name === name)
  if (found !== undefined) return found
  const names = commands.map((command) => command.name)
  throw usage(`there is no command "${name}"`, near(name, names) ?? `The commands are ${names.join(', ')}.`)
}

function parseWords(argv: readonly string[], command: Command | undefined): Omit<ParsedCommandLine, 'command'> {
  const known = command?.flags ?? globalFlags
  const { tokens } = parseArgs({
    args: withInlineValues(argv, known),
    options: optionsOf(known),
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const flags: Record<string, unknown> = {}
  const operands: string[] = []
  for (const token of tokens) {
    if (token.kind === 'option') {
      const flag = known.find(({ name }) => name === token.name)
      if (flag === undefined) throw unknownFlag(token.rawName, known, command)
      const value = readFlag(flag, token.value, token.inlineValue === true)
      flags[flag.name] = flag.repeats ? [...((flags[flag.name] as unknown[] | undefined) ?? []), value] : value
    } else if (token.kind === 'positional') operands.push(token.value)
  }
  if (flags['help'] !== true) checkOperands(operands, command)
  return { operands, flags, rest: [] }
}

/** `--inspect web` becomes `--inspect=web`, for flags that may stand without a value. */
function withInlineValues(argv: readonly string[], known: readonly Flag[]): string[] {
  const args: string[] = []
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!
    const optional = known.find(({ name }) => word === `--${name}`)?.optional
    if (optional?.test(argv[at + 1] ?? '')) args.push(`${word}=${argv[++at]}`)
    else args.push(word)
  }
  return args
}

function checkOperands(given: readonly string[], command: Command | undefined): void {
  const { name = '', operands = [] } = command ?? {}
  if (given.includes('') && command?.takesEmptyOperands !== true)
    throw usage('an argument is empty', `See busbar ${name} --help.`)
  const see = `See busbar ${name} --help.`.replace('  ', ' ')
  const isOpen = operands.at(-1)?.endsWith('...]') === true
  if (given.length > operands.length && !isOpen)
    throw usage(`"${given[operands.length]}" is one argument too many`, see)
  const missing = operands.slice(given.length).find((operand) => operand.startsWith('<'))
  if (missing !== undefined)
    throw usage(`busbar ${name} needs ${missing}`, `Write busbar ${[name, ...operands].join(' ')}.`)
}

function optionsOf(flags: readonly Flag[]) {
  return Object.fromEntries(
    flags.map(({ name, short, value, optional }) => [
      name,
      {
        type: value === undefined || optional !== undefined ? ('boolean' as const) : ('string' as const),
        ...(short !== undefined && { short }),
      },
    ]),
  )
}

function readFlag(flag: Flag, value: string | undefined, inline: boolean): unknown {
  if (flag.value === undefined) {
    if (value !== undefined) throw usage(`--${flag.name} takes no value, not "${value}"`)
    return true
  }
  if (value === undefined && flag.optional !== undefined) return true
  if (value === undefined || value === '' || (!inline && value.startsWith('-')))
    throw usage(`--${flag.name} needs a value: --${flag.name} <${flag.value}>`)
  const read = readers[flag.name]
  return read === undefined ? value : read(flag, value)
}

/** For flags whose value is not any string. */
const readers: Partial<Record<keyof Flags, (flag: Flag, value: string) => unknown>> = {
  workers: (flag, value) => (value === 'auto' ? value : integer(flag, value, 1, 1024, ', or auto')),
  port: (flag, value) => integer(flag, value, 0, 65_535),
  pid: (flag, value) => integer(flag, value, 1, 2 ** 31),
  instance: (flag, value) => integer(flag, value, 0, 1_000_000),
  instances: (flag, value) => integer(flag, value, 1, 1024),
  seconds: (flag, value) => integer(flag, value, 1, 300),
  timeout: (flag, value) => integer(flag, value, 1, 3_600_000),
  lines: (flag, value) => integer(flag, value, 0, 100_000),
  interval: (flag, value) => integer(flag, value, 100, 3_600_000),
  count: (flag, value) => integer(flag, value, 1, 1_000_000),
  budget: (flag, value) => integer(flag, value, 0, 36_000),
  days: (flag, value) => integer(flag, value, 1, 3650),
  level: (flag, value) => oneOf(flag, value, logLevels),
  'log-level': (flag, value) => oneOf(flag, value, logLevels),
  template: (flag, value) => oneOf(flag, value, templateNames),
  run: (flag, value) => oneOf(flag, value, ['shared', 'thread', 'process']),
}

function integer(flag: Flag, value: string, least: number, most: number, or = ''): number {
  const number = Number(value)
  if (/^\d+$/.test(value) && number >= least && number <= most) return number
  throw usage(`--${flag.name} must be a whole number from ${least} to ${most}${or}, not "${value}"`)
}

function oneOf(flag: Flag, value: string, words: readonly string[]): string {
  if (words.includes(value)) return value
  throw usage(`--${flag.name} must be one of ${words.join(', ')}, not "${value}"`, near(value, words))
}

function unknownFlag(raw: string, known: readonly Flag[], command: Command | undefined): BusbarError {
  const names = known.map(({ name }) => `--${name}`)
  const of = command === undefined ? 'busbar' : `busbar ${command.name}`
  return usage(`${of} has no flag ${raw}`, near(raw, names) ?? `See ${of} --help.`)
}

/** Suggests a word that may be a typing error away: up to a third of the letters, at most three. */
function near(word: string, words: readonly string[]): string | undefined {
  const best = closest(word, words)
  return distance(word, best) <= Math.min(3, Math.ceil(word.length / 3)) ? `Did you mean ${best}?` : undefined
}

function usage(message: string, hint?: string): BusbarError {
  return new BusbarError('USAGE', { message, ...(hint !== undefined && { hint }) })
}
