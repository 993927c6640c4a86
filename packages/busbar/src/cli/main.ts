import { setImmediate } from 'node:timers/promises'
import { BusbarError } from '../contract/errors.ts'
import { deferBuiltinUndici } from '../shared/process/builtin-undici.ts'
import { takeCompileCacheVariables, useCompileCache } from '../shared/process/compile-cache.ts'
import type { Command, Flags } from './command.ts'
import { leaveProcessOne } from './init-process.ts'
import { helpText } from './terminal/help.ts'
import { runWithRespawn, shouldRespawn } from './respawn.ts'
import { commands } from './command-table.ts'
import { parseCommandLine } from './parse.ts'
import { errorText, printError } from './terminal/print-error.ts'
import { type Output, type Terminal, print, processTerminal } from './terminal/terminal.ts'
import { packageVersion } from '../shared/package-files.ts'
import { silenceWarning } from '../shared/process/silence-warning.ts'

/**
 * Called by `bin/busbar.js`: runs a command line (without `node` and the script) and ends the
 * process with its exit code.
 */
export async function main(argv: readonly string[]): Promise<never> {
  if (runsAnApp.has(argv[0])) leaveProcessOne()
  takeCompileCacheVariables()
  useCompileCache()
  // A config may be ESM in a package without a type. Node warns that parsing it twice is slow;
  // `busbar` loads it once.
  silenceWarning('MODULE_TYPELESS_PACKAGE_JSON')
  const terminal = processTerminal()
  const code = respawns(argv) ? await runWithRespawn(terminal) : await runCommandLine(argv, terminal)
  await Promise.all([terminal.out, terminal.err].map(({ stream }) => drained(stream)))
  const failed = runsAnApp.has(argv[0]) ? undefined : writeFailure(terminal.out)
  if (failed !== undefined) print(terminal.err, errorText(terminal.err, failed, false))
  // Explicitly, because a thread that hangs in a system call would keep the process alive.
  process.exit(code === 0 && failed !== undefined ? failed.exitCode : code)
}

/** Commands that last, and may be the first process of a container. */
const runsAnApp: ReadonlySet<string | undefined> = new Set(['start', 'dev'])

/** Commands whose JSON is one value a line. */
const printsLines: ReadonlySet<string | undefined> = new Set(['top', 'logs'])

/** Undefined if all was written, or if nobody wants to read it. */
function writeFailure({ lost }: Output): BusbarError | undefined {
  if (!lost.aborted || lost.reason.code === 'EPIPE') return undefined
  const message = `the result could not be written: ${lost.reason.message}`
  const hint = 'What the command has done is not undone. Free the disk, or choose another file.'
  return new BusbarError('USAGE', { message, hint })
}

/** Prints errors and never rejects. Resolves to the exit code. */
async function runCommandLine(argv: readonly string[], terminal: Terminal): Promise<number> {
  // Also for an error of the command line itself.
  let asJson = argv.includes('--json')
  try {
    const { command, operands, flags, rest } = parseCommandLine(argv)
    asJson = flags.json === true
    if (flags.version) return printAll(terminal.out, packageVersion())
    if (argv.length === 0) return printAll(terminal.err, helpText(undefined), 2)
    if (command === undefined || flags.help) return printAll(terminal.out, helpText(command))
    const run = await load(command, flags)
    return await run({ operands, flags, rest, terminal, commands })
  } catch (error) {
    const indent = printsLines.has(argv[0]) ? undefined : 2
    if (asJson) print(terminal.out, JSON.stringify({ ok: false, error: recordOf(error) }, undefined, indent))
    printError(terminal.err, error, argv.includes('--verbose') || Boolean(terminal.env['BUSBAR_DEBUG']))
    return BusbarError.from(error).exitCode
  }
}

/** Node's undici takes 30 ms and 7 MB, and no command needs it. */
async function load(command: Command, flags: Flags): ReturnType<Command['load']> {
  const allowUndici = deferBuiltinUndici()
  try {
    return await command.load(flags)
  } finally {
    allowUndici()
  }
}

/** False for an invalid command line: `runCommandLine` reports the error. */
function respawns(argv: readonly string[]): boolean {
  try {
    return shouldRespawn(parseCommandLine(argv))
  } catch {
    return false
  }
}

/** What `--json` prints of an error. */
function recordOf(thrown: unknown): object {
  const { stack: _, ...record } = BusbarError.from(thrown).toRecord()
  return record
}

function printAll(output: Output, text: string, code = 0): number {
  print(output, text)
  return code
}

/**
 * Pipes are written asynchronously, and `exit` would drop what is buffered. A stalled reader gets a
 * second.
 */
async function drained(stream: NodeJS.WriteStream): Promise<void> {
  // A write to a file fails in the same turn, and the event follows in the next.
  await setImmediate()
  if (stream.writableLength === 0 || stream.destroyed) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, 1000)
  stream.write('', () => resolve())
  await promise
  clearTimeout(timer)
}
