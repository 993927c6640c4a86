import { parseArgs } from 'node:util'
import { closest, distance } from 'fastest-levenshtein'
import { BusbarError } from '../contract/errors.ts'
import { logLevels } from '../observe/log.ts'
import { type Command, type Flag, type Flags, commands, globalFlags } from './commands.ts'

export interface ParsedLine {
  /** Undefined for `busbar --version`, `busbar --help` and a bare `busbar`. */
  readonly command: Command | undefined
  readonly operand: string | undefined
  readonly flags: Flags
  /** What a command that forwards was given, unread. */
  readonly rest: readonly string[]
}

/** Reads a command line, without `node` and the script. Throws `USAGE`. */
export function parseLine(argv: readonly string[]): ParsedLine {
  const [first, ...rest] = argv
  if (first === undefined) return { command: undefined, operand: undefined, flags: {}, rest: [] }
  if (first.startsWith('-')) return { ...parseWords(argv, undefined), command: undefined }
  if (first === 'help')
    return {
      command: rest[0] === undefined ? undefined : commandOf(rest[0]),
      operand: undefined,
      flags: { help: true },
      rest: [],
    }
  const command = commandOf(first)
  if (command.forwards) return { command, operand: undefined, flags: {}, rest }
  return { ...parseWords(rest, command), command }
}

function commandOf(name: string): Command {
  const found = commands.find((command) => command.name === name)
  if (found !== undefined) return found
  const names = commands.map((command) => command.name)
  throw usage(`there is no command "${name}"`, near(name, names) ?? `the commands are ${names.join(', ')}`)
}

function parseWords(argv: readonly string[], command: Command | undefined): Omit<ParsedLine, 'command'> {
  const known = command?.flags ?? globalFlags
  const { tokens } = parseArgs({
    args: [...argv],
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
      flags[flag.name] = readFlag(flag, token.value, token.inlineValue === true)
    } else if (token.kind === 'positional') operands.push(token.value)
  }
  const most = command?.operand === undefined ? 0 : 1
  if (operands.length > most)
    throw usage(
      `"${operands[most]}" is one argument too many`,
      `see: busbar ${command?.name ?? ''} --help`.replace('  ', ' '),
    )
  return { operand: operands[0], flags, rest: [] }
}

function optionsOf(flags: readonly Flag[]) {
  return Object.fromEntries(
    flags.map(({ name, short, value }) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short !== undefined && { short }) },
    ]),
  )
}

function readFlag(flag: Flag, value: string | undefined, inline: boolean): unknown {
  if (flag.value === undefined) {
    if (value !== undefined) throw usage(`--${flag.name} takes no value, and it was given "${value}"`)
    return true
  }
  if (value === undefined || value === '' || (!inline && value.startsWith('-')))
    throw usage(`--${flag.name} needs a value: --${flag.name} <${flag.value}>`)
  const read = readers[flag.name]
  return read === undefined ? value : read(flag, value)
}

/** Of the flags whose value is more than a text. */
const readers: Partial<Record<keyof Flags, (flag: Flag, value: string) => unknown>> = {
  workers: (flag, value) => (value === 'auto' ? value : integer(flag, value, 1, 1024, ', or auto')),
  port: (flag, value) => integer(flag, value, 0, 65_535),
  'log-level': (flag, value) => oneOf(flag, value, logLevels),
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
  return usage(`${of} has no flag ${raw}`, near(raw, names) ?? `see: ${of} --help`)
}

/** Only what could be a slip of the fingers: a third of the letters, at most three. */
function near(word: string, words: readonly string[]): string | undefined {
  const best = closest(word, words)
  return distance(word, best) <= Math.min(3, Math.ceil(word.length / 3)) ? `did you mean ${best}?` : undefined
}

function usage(message: string, hint?: string): BusbarError {
  return new BusbarError('USAGE', { message, ...(hint !== undefined && { hint }) })
}
