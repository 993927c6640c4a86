/** The commands of `busbar`. Parsing, `--help` and `docs/reference/cli.md` follow this table. */
import type { Command } from './command.ts'
import { adoptCommands } from './table/adopt-commands.ts'
import { appCommands } from './table/app-commands.ts'
import { changeCommands } from './table/change-commands.ts'
import { runCommands } from './table/run-commands.ts'
import { serviceCommands } from './table/service-commands.ts'

export { globalFlags } from './table/flags.ts'

export const commands: readonly Command[] = [
  ...runCommands,
  ...adoptCommands,
  ...appCommands,
  ...changeCommands,
  ...serviceCommands,
]

/** The exit codes of `busbar`; `docs/reference/cli.md` lists the same codes. */
export const exitCodes: Readonly<Record<number, string>> = {
  0: 'all went well; for start and dev: it was stopped by a signal',
  1: 'the app failed: a program did not start, a worker died more than maxRestarts times in a row, a port was in use; an operation on a running app was refused or failed; for bench: an arm is invalid, or slower than before',
  2: 'the command line is wrong, or this Node is not supported',
  3: 'the config is wrong',
  4: 'the app does not run, or does not answer',
  129: 'a second SIGHUP ended it at once',
  130: 'a second SIGINT ended it at once; for bench: ended by hand, with the complete rounds; for init: a question was not answered, and nothing is written',
  137: 'it was stopped, but only SIGKILL could end it: a thread hung in a system call (execSync, a FIFO), or the process was suspended or stuck',
  143: 'a second SIGTERM ended it at once',
}
