import { parseArgs } from 'node:util'
import { bench } from './bench.ts'
import { compareResults, isRegression, readResult } from './compare.ts'
import { doctor } from './doctor.ts'
import { flags, help, isFolder, scenarioHelp, toOptions, type Values } from './options.ts'
import { ownApp } from './own-app.ts'
import { changesReport } from './report/changes.ts'
import { showProgress } from './report/progress.ts'
import { reportTo } from './report/report.ts'
import { scenarios } from './scenarios/index.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { stopOnSignal } from './stop-signal.ts'

/**
 * What `busbar bench` does with its arguments. Answers the exit code: 0 done; 1 an arm was invalid, or `compare` found a
 * regression; 2 it could not be done as asked; 130 it was ended by hand, and what was whole by then has been reported.
 */
export async function command(args: readonly string[]): Promise<number> {
  try {
    return await run(args)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    return 2
  }
}

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], options: flags, allowPositionals: true })
  const [name, ...rest] = positionals
  if (name === undefined) return print(help(), values.help ? 0 : 2)
  if (name !== 'compare' && rest.length > 0) throw new Error(`"${rest[0]}" is one argument too many`)
  if (name === 'compare' && !values.help) return compareFiles(rest)
  const scenario = scenarios.get(name)
  if (values.help) return print(scenario === undefined ? help() : scenarioHelp(scenario), 0)
  const stop = stopOnSignal()
  try {
    if (name === 'doctor') return print(await doctor(stop.signal), 0)
    if (scenario !== undefined) return await measure(scenario, values, args, stop.signal)
    if (isFolder(name)) return await measureApp(name, values, args, stop.signal)
  } finally {
    stop.forget()
  }
  const known = [...scenarios.keys(), 'compare', 'doctor'].join(', ')
  throw new Error(`"${name}" is neither a scenario (${known}) nor a folder, such as ./app`)
}

async function measureApp(
  folder: string,
  values: Values,
  args: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const { scenario, oneAtATime, notes } = await ownApp(folder, { path: values.path ?? '/', signal })
  for (const note of notes) process.stderr.write(`${note}\n`)
  return measure(scenario, { ...values, path: undefined }, args, signal, oneAtATime)
}

async function measure(
  scenario: Scenario,
  values: Values,
  args: readonly string[],
  signal: AbortSignal,
  oneAtATime = false,
): Promise<number> {
  const progress = showProgress(process.stderr)
  const result = await bench(scenario, {
    ...toOptions(scenario, values),
    command: ['busbar bench', ...withoutSeed(args)].join(' '),
    oneAtATime,
    signal,
    onProgress: (said) => progress.show(said),
  }).finally(() => progress.clear())
  if (signal.aborted && result.rounds === 0) throw new Error('ended before the first round was whole')
  await reportTo(process.stdout, result, values)
  if (signal.aborted) {
    process.stderr.write('Ended early; the same command with --resume goes on from here.\n')
    return 130
  }
  return result.arms.every((arm) => arm.valid) ? 0 : 1
}

async function compareFiles(files: readonly string[]): Promise<number> {
  const [before, after, ...more] = files
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error('compare wants two files that --json wrote: busbar bench compare before.json after.json')
  const changes = compareResults(await readResult(before), await readResult(after))
  return print(changesReport(changes), isRegression(changes) ? 1 : 0)
}

/** The report adds the seed that was used, and a report says how to begin anew. */
function withoutSeed(args: readonly string[]): string[] {
  return args
    .filter((arg, at) => !/^--(seed|resume)/.test(arg) && args[at - 1] !== '--seed')
    .map((arg) => (/^[\w./:,=-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`))
}

function print(text: string, code: number): number {
  const output = code === 2 ? process.stderr : process.stdout
  output.write(text)
  return code
}
