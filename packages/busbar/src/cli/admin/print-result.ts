import type { CommandContext } from '../command.ts'
import { print } from '../terminal/terminal.ts'
import { printableJson } from '../../shared/output/printable.ts'

/** Prints a result: as JSON with `--json`, else as text. Keys of the JSON are only ever added. */
export function printResult(
  { flags, terminal }: Pick<CommandContext, 'flags' | 'terminal'>,
  value: object,
  text: string,
): void {
  print(terminal.out, flags.json === true ? printableJson(value) : text)
}
