import type { Command, Flag } from '../command.ts'
import { commands, exitCodes, globalFlags } from '../command-table.ts'
import { alignColumns } from './columns.ts'

export function helpText(command: Command | undefined): string {
  return command === undefined ? overview() : commandHelp(command)
}

function overview(): string {
  return [
    'Busbar runs many Node services as one application.',
    '',
    section('Usage', ['busbar <command> [arguments]']),
    section('Commands', alignColumns(commands.map((command) => [signature(command), command.summary]))),
    section('Flags', flagLines(globalFlags)),
    section('Exit codes', alignColumns(Object.entries(exitCodes))),
    'busbar <command> --help shows the flags of a command.',
  ].join('\n')
}

function commandHelp(command: Command): string {
  return [
    section('Usage', [`busbar ${signature(command)} [flags]`]),
    `${command.description}\n`,
    ...(command.flags.length > 0 ? [section('Flags', flagLines(command.flags))] : []),
  ]
    .join('\n')
    .trimEnd()
}

/** `call <service> <method> [json]` */
export function signature({ name, operands }: Pick<Command, 'name' | 'operands'>): string {
  return [name, ...operands].join(' ')
}

function flagLines(flags: readonly Flag[]): string[] {
  return alignColumns(flags.map((flag) => [flagText(flag), flag.summary]))
}

/** A flag in help and in the reference: `-w, --workers <n|auto>`. */
export function flagText({ name, short, value, optional }: Flag): string {
  const shown = optional === undefined ? `<${value}>` : `[${value}]`
  const long = value === undefined ? `--${name}` : `--${name} ${shown}`
  return short === undefined ? long : `-${short}, ${long}`
}

function section(title: string, lines: readonly string[]): string {
  return [`${title}:`, ...lines.map((line) => `  ${line}`), ''].join('\n')
}
