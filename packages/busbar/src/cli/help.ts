import { type Command, type Flag, commands, exitCodes, globalFlags } from './commands.ts'
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
    'busbar <command> --help tells more of one command.',
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

function signature({ name, operand }: Command): string {
  return operand === undefined ? name : `${name} ${operand}`
}

function flagLines(flags: readonly Flag[]): string[] {
  return alignColumns(flags.map((flag) => [flagText(flag), flag.summary]))
}

/** As it stands in help and in the reference: `-w, --workers <n|auto>`. */
export function flagText({ name, short, value }: Flag): string {
  const long = value === undefined ? `--${name}` : `--${name} <${value}>`
  return short === undefined ? long : `-${short}, ${long}`
}

function section(title: string, lines: readonly string[]): string {
  return [`${title}:`, ...lines.map((line) => `  ${line}`), ''].join('\n')
}
