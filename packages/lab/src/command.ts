import { parseArgs } from 'node:util'
import { bench } from './bench.ts'
import { compareResults, isRegression, readResult } from './compare.ts'
import { doctor } from './doctor.ts'
import { flags, help, isFolder, scenarioHelp, toOptions, toVaried, type Values } from './options.ts'
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
export async function command(args: readonly string[], output: Output = process): Promise<number> {
  try {
    return await run(args, output)
  } catch (error) {
    output.stderr.write(`${(error as Error).message}\n`)
    return 2
  }
}

/** As shells say it of SIGINT. */
const endedByHand = 130

/** Where it prints to: what was found on the one, what goes on meanwhile and what is wrong on the other. */
export interface Output {
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
}

async function run(args: readonly string[], output: Output): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], options: flags, allowPositionals: true })
  const [name, ...rest] = positionals
  const print = (text: string) => void output.stdout.write(text)
  if (name === undefined) {
    const asked = values.help === true
    ;(asked ? output.stdout : output.stderr).write(help())
    return asked ? 0 : 2
  }
  if (name !== 'compare' && rest.length > 0) throw new Error(`"${rest[0]}" is one argument too many`)
  if (name === 'compare' && !values.help) return compareFiles(rest, print)
  const scenario = scenarios.get(name)
  if (values.help) {
    print(scenario === undefined ? help() : scenarioHelp(scenario))
    return 0
  }
  const stop = stopOnSignal()
  try {
    const run: Run = { values, args, output, signal: stop.signal, oneAtATime: false, notes: [] }
    if (scenario !== undefined) return await measure(scenario, run)
    if (name === 'doctor') {
      print(await doctor(stop.signal, output.stderr))
      return 0
    }
    if (isFolder(name)) return await measureApp(name, run)
  } catch (error) {
    if (!stop.signal.aborted) throw error
    output.stderr.write(`${(error as Error).message}\n`)
    return endedByHand
  } finally {
    stop.forget()
  }
  const known = [...scenarios.keys(), 'compare', 'doctor'].join(', ')
  throw new Error(`"${name}" is neither a scenario (${known}) nor a folder, such as ./app`)
}

interface Run {
  readonly values: Values
  readonly args: readonly string[]
  readonly output: Output
  readonly signal: AbortSignal
  readonly oneAtATime: boolean
  readonly notes: readonly string[]
}

async function measureApp(folder: string, run: Run): Promise<number> {
  const { values, signal } = run
  const vary = toVaried(values)
  const { scenario, oneAtATime, notes } = await ownApp(folder, { path: values.path ?? '/', vary, signal })
  return measure(scenario, { ...run, values: { ...values, path: undefined, vary: undefined }, oneAtATime, notes })
}

async function measure(scenario: Scenario, { values, args, output, signal, oneAtATime, notes }: Run): Promise<number> {
  const progress = showProgress(output.stderr)
  const result = await bench(scenario, {
    ...toOptions(scenario, values),
    command: ['busbar bench', ...withoutSeed(args)].join(' '),
    oneAtATime,
    notes,
    signal,
    onProgress: (said) => progress.show(said),
    onInstall: ({ title }) => output.stderr.write(`installing what “${title}” needs (once)…\n`),
  }).finally(() => progress.clear())
  if (signal.aborted && result.rounds === 0) throw new Error('ended before the first round was whole')
  await reportTo(output.stdout, result, values)
  if (signal.aborted) {
    output.stderr.write('Ended early; the same command with --resume goes on from here.\n')
    return endedByHand
  }
  return result.arms.every((arm) => arm.valid) ? 0 : 1
}

async function compareFiles(files: readonly string[], print: (text: string) => void): Promise<number> {
  const [before, after, ...more] = files
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error('compare wants two files that --json wrote: busbar bench compare before.json after.json')
  const changes = compareResults(await readResult(before), await readResult(after))
  print(changesReport(changes))
  return isRegression(changes) ? 1 : 0
}

/** The report adds the seed that was used, and a report says how to begin anew. */
function withoutSeed(args: readonly string[]): string[] {
  return args
    .filter((arg, at) => !/^--(seed|resume)/.test(arg) && args[at - 1] !== '--seed')
    .map((arg) => (/^[\w./:,=-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`))
}
