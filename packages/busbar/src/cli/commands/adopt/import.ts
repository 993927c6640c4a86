import { basename, join, relative } from 'node:path'
import { configText } from '../../../adopt/config-text.ts'
import type { Imported } from '../../../adopt/imported.ts'
import { importSource, sourceAt } from '../../../adopt/sources/find-sources.ts'
import { canImportBusbar, checkNoConfig, writeNewFile } from '../../../adopt/write-config.ts'
import { loadApp } from '../../../config/load.ts'
import { BusbarError } from '../../../contract/errors.ts'
import type { CommandContext } from '../../command.ts'
import { resolveOperand } from '../../operand.ts'
import { alignColumns } from '../../terminal/columns.ts'
import { printError } from '../../terminal/print-error.ts'
import { type Output, paint, print } from '../../terminal/terminal.ts'

/** `busbar import`: prints or writes the config for what another tool's file starts. */
export async function importConfig(context: CommandContext): Promise<number> {
  const { flags, terminal } = context
  const source = await sourceAt(resolveOperand(context))
  const imported = await importSource(source)
  if (flags.write) await checkNoConfig(imported.root, 'print the new one and compare: without --write')
  const text = await textOf(imported)
  const file = flags.write ? join(imported.root, 'busbar.config.ts') : undefined
  if (file !== undefined) await writeNewFile(file, text)
  const problem = file === undefined ? undefined : await problemOf(file, context)
  if (flags.json) printJson(imported, { file: file ?? null, text, problem }, context)
  else {
    if (file === undefined) terminal.out.stream.write(text)
    // The config alone is on standard output, so that it can be piped into a file.
    printReport(imported, file, file === undefined ? terminal.err : terminal.out)
    if (problem !== undefined) printError(terminal.err, problem, flags.verbose === true)
  }
  return problem?.exitCode ?? 0
}

async function textOf({ root, source, config, leftOut }: Imported): Promise<string> {
  const comments = [
    `Written by busbar import from ${basename(source)}. busbar check shows how it would run.`,
    ...leftOut.map(({ name, why }) => `Left out: ${name}: ${why}.`),
  ]
  return configText(config, { canImport: await canImportBusbar(root), comments })
}

/** What keeps the written config from starting, such as a build that has not run. */
async function problemOf(file: string, { terminal }: CommandContext): Promise<BusbarError | undefined> {
  try {
    await loadApp(file, { env: terminal.env, unbuilt: true })
    return undefined
  } catch (error) {
    return BusbarError.from(error)
  }
}

/** Keys are only ever added. */
function printJson(
  { kind, source, config, mapped, unmapped, leftOut }: Imported,
  { file, text, problem }: { file: string | null; text: string; problem: BusbarError | undefined },
  { terminal }: CommandContext,
): void {
  const error = problem && { code: problem.code, message: problem.message, hint: problem.hint }
  const report = {
    ok: problem === undefined,
    kind,
    source,
    file,
    config,
    text,
    mapped,
    unmapped,
    leftOut,
    ...(error && { error }),
  }
  print(terminal.out, JSON.stringify(report, undefined, 2))
}

function printReport({ source, mapped, unmapped, leftOut }: Imported, file: string | undefined, out: Output): void {
  const name = basename(source)
  const dim = (text: string): string => paint(out, 'dim', text)
  section(
    out,
    `${name}: mapped`,
    mapped.map(({ from, to, note = '' }) => [from, to, dim(note)]),
  )
  section(
    out,
    `${name}: not mapped`,
    unmapped.map(({ from, why }) => [from, dim(why)]),
  )
  section(
    out,
    'left out',
    leftOut.map((one) => [one.name, dim(one.why)]),
  )
  if (file !== undefined)
    print(out, `\n${relative(process.cwd(), file) || file} is written. Next: busbar check, then busbar start.`)
}

function section(out: Output, title: string, rows: readonly (readonly string[])[]): void {
  if (rows.length > 0)
    print(out, ['', paint(out, 'bold', title), ...alignColumns(rows).map((row) => `  ${row}`)].join('\n'))
}
