import { readFileSync } from 'node:fs'
import { BusbarError } from '../contract/errors.ts'
import { type Parts, loadParts } from './context.ts'
import { helpText } from './help.ts'
import { keep, wantsKeeper } from './keeper.ts'
import { parseLine } from './parse.ts'
import { printError } from './print-error.ts'
import { type Output, type Terminal, print, processTerminal } from './terminal.ts'
import { silenceWarning } from './warnings.ts'

/**
 * Runs one command line (without `node` and the script) and resolves to its exit code. It never rejects: what goes
 * wrong is printed. `parts` stands in for the layers below in tests.
 */
export async function runLine(
  argv: readonly string[],
  terminal: Terminal = processTerminal(),
  parts: () => Promise<Parts> = loadParts,
): Promise<number> {
  try {
    const { command, operand, flags, rest } = parseLine(argv)
    if (flags.version) return say(terminal.out, version())
    if (argv.length === 0) return say(terminal.err, helpText(undefined), 2)
    if (command === undefined || flags.help) return say(terminal.out, helpText(command))
    const run = await command.load()
    return await run({ operand, flags, rest, terminal, parts: await parts() })
  } catch (error) {
    printError(terminal.err, error, argv.includes('--verbose') || Boolean(terminal.env['BUSBAR_DEBUG']))
    return BusbarError.from(error).exitCode
  }
}

/** What `bin/busbar.js` calls: runs the line and ends the process with its code. */
export async function main(argv: readonly string[]): Promise<never> {
  // A config may be ESM whatever the package around it says; `busbar` reads it once, so there is nothing to warn of.
  silenceWarning('MODULE_TYPELESS_PACKAGE_JSON')
  const terminal = processTerminal()
  const code = isForKeeper(argv) ? await keep(terminal) : await runLine(argv, terminal)
  await Promise.all([terminal.out, terminal.err].map(({ stream }) => drained(stream)))
  // Not by itself: a thread that hangs in a system call would keep the process.
  process.exit(code)
}

/** A line that is wrong is told so by whoever runs it. */
function isForKeeper(argv: readonly string[]): boolean {
  try {
    return wantsKeeper(parseLine(argv))
  } catch {
    return false
  }
}

export function version(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

function say(output: Output, text: string, code = 0): number {
  print(output, text)
  return code
}

/** Pipes are written asynchronously, and `exit` would cut off what waits; a reader that hangs gets a second. */
async function drained(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writableLength === 0 || stream.destroyed) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, 1000)
  stream.write('', () => resolve())
  await promise
  clearTimeout(timer)
}
