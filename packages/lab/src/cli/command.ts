import { constants } from 'node:os'
import { parseArgs } from 'node:util'
import { closest, distance } from 'fastest-levenshtein'
import { bench } from '../bench.ts'
import { compareResults, isRegression, readResult } from '../stats/compare-runs.ts'
import { doctor } from './doctor.ts'
import {
  checkFolderFlags,
  flags,
  help,
  isFolder,
  ownOnly,
  scenarioHelp,
  toOptions,
  toVaried,
  withBaseline,
  type Values,
} from './options.ts'
import { ownRequests } from '../user-app/own-requests.ts'
import { userAppScenario } from '../user-app/user-app.ts'
import { measureRatesOfApp, measureUrl, wantsRates } from './rates-command.ts'
import { changesReport } from '../report/changes.ts'
import { showProgress } from '../report/progress.ts'
import { reportTo } from '../report/report.ts'
import { scenarios } from '../scenarios/index.ts'
import type { Scenario } from '../scenarios/scenario.ts'

/**
 * Runs `busbar bench` and returns its exit code. 0: done. 1: an arm was invalid, or `compare` found
 * a regression. 2: an error. 130: interrupted, and the completed rounds were reported.
 */
export async function command(args: readonly string[], output: Output = process): Promise<number> {
  try {
    return await run(args, output)
  } catch (error) {
    output.stderr.write(`${(error as Error).message}\n`)
    return 2
  }
}

/** The exit code that shells give for SIGINT. */
const interrupted = 130

/** Results go to `stdout`, progress and errors to `stderr`. */
export interface Output {
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
}

async function run(args: readonly string[], output: Output): Promise<number> {
  const { values, positionals } = parseFlags(args)
  const [name, ...rest] = positionals
  const print = (text: string) => void output.stdout.write(text)
  if (name === undefined && values.url !== undefined && !values.help)
    return await untilSignal(output, (signal) => measureUrl({ values, signal, print }))
  if (name === undefined) {
    const isHelp = values.help === true
    ;(isHelp ? output.stdout : output.stderr).write(help())
    return isHelp ? 0 : 2
  }
  if (name !== 'compare' && rest.length > 0) throw new Error(`unexpected argument "${rest[0]}"`)
  if (name === 'compare' && !values.help) return compareFiles(rest, print)
  const scenario = scenarios.get(name)
  if (values.url !== undefined && !values.help) throw new Error(`--url replaces "${name}": leave one of them out`)
  if (values.help) {
    print(scenario === undefined ? help() : scenarioHelp(scenario))
    return 0
  }
  return await untilSignal(output, async (signal) => {
    const run: Run = { values, args, output, signal, oneAtATime: false, notes: [] }
    if (scenario !== undefined) return await measure(withBaseline(scenario, values.baseline), run)
    if (name === 'doctor') {
      print(await doctor(signal, output.stderr))
      return 0
    }
    if (isFolder(name)) checkFolderFlags(values)
    if (isFolder(name))
      return await (wantsRates(values) ? measureRatesOfApp(name, { values, signal, print }) : measureApp(name, run))
    const known = [...scenarios.keys(), 'compare', 'doctor']
    const near = suggestion(name, known)
    throw new Error(`"${name}" is neither a scenario (${known.join(', ')}) nor a folder, such as ./app${near}`)
  })
}

/** Throws an error with a message for the user. */
function parseFlags(args: readonly string[]) {
  const config = { args: [...args], options: flags, allowPositionals: true } as const
  // Node's own error names no similar flag.
  const { tokens } = parseArgs({ ...config, strict: false, tokens: true })
  for (const token of tokens)
    if (token.kind === 'option' && !Object.hasOwn(flags, token.name)) throw unknownFlag(token.rawName)
  return parseArgs(config)
}

/**
 * A further line that suggests a word that may be a typing error away, as Busbar's other commands
 * do: up to a third of the letters, at most three. Else `otherwise`.
 */
function suggestion(word: string, words: readonly string[], otherwise = ''): string {
  const best = closest(word, words)
  return distance(word, best) <= Math.min(3, Math.ceil(word.length / 3)) ? `\nDid you mean ${best}?` : otherwise
}

function unknownFlag(raw: string): Error {
  const names = Object.keys(flags).map((name) => `--${name}`)
  return new Error(`busbar bench has no flag ${raw}${suggestion(raw, names, '\nSee busbar bench --help.')}`)
}

/** An error after a signal is the interruption. */
async function untilSignal(output: Output, work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const stop = stopOnSignal()
  try {
    return await work(stop.signal)
  } catch (error) {
    if (!stop.signal.aborted) throw error
    const { name, message } = error as Error
    output.stderr.write(`${name === 'AbortError' ? 'interrupted: nothing is left running' : message}\n`)
    return interrupted
  } finally {
    stop.release()
  }
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
  const own = await ownRequests(values)
  const { scenario, oneAtATime, notes } = await userAppScenario(folder, { own, vary, signal })
  const rest: Values = { ...values, path: undefined, vary: undefined }
  for (const name of ownOnly) delete rest[name]
  return measure(scenario, { ...run, values: rest, oneAtATime, notes })
}

async function measure(scenario: Scenario, { values, args, output, signal, oneAtATime, notes }: Run): Promise<number> {
  const progress = showProgress(output.stderr)
  const result = await bench(scenario, {
    ...toOptions(scenario, values),
    command: ['busbar bench', ...withoutSeed(args)].join(' '),
    oneAtATime,
    notes,
    signal,
    onProgress: (now) => progress.show(now),
    onInstall: ({ title }) => output.stderr.write(`installing what “${title}” needs (once)…\n`),
  }).finally(() => progress.clear())
  if (signal.aborted && result.rounds === 0) throw new Error('interrupted before the first round was complete')
  await reportTo(output.stdout, result, values)
  if (signal.aborted) {
    output.stderr.write('Interrupted. The same command with --resume continues.\n')
    return interrupted
  }
  return result.arms.every((arm) => arm.valid) ? 0 : 1
}

async function compareFiles(files: readonly string[], print: (text: string) => void): Promise<number> {
  const [before, after, ...more] = files
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error('compare needs two files that --json wrote: busbar bench compare before.json after.json')
  const changes = compareResults(await readResult(before), await readResult(after))
  print(changesReport(changes))
  return isRegression(changes) ? 1 : 0
}

/** The report adds the seed that was used, and shows how to run again from the start. */
function withoutSeed(args: readonly string[]): string[] {
  return args
    .filter((arg, at) => !/^--(seed|resume)/.test(arg) && args[at - 1] !== '--seed')
    .map((arg) => (/^[\w./:,=-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`))
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Terminals, shells and npm each deliver a Ctrl-C. Signals within this many milliseconds count as
 * one.
 */
const sameRequestMs = 500

/** The first signal aborts. A later one ends the process at once, and the reaper ends the arms. */
export function stopOnSignal(): { signal: AbortSignal; release: () => void } {
  const stop = new AbortController()
  let first: number | undefined
  const onSignal = (name: NodeJS.Signals) => {
    const now = performance.now()
    if (first !== undefined && now - first > sameRequestMs) process.exit(128 + constants.signals[name])
    first ??= now
    stop.abort()
  }
  for (const name of signals) process.on(name, onSignal)
  return {
    signal: stop.signal,
    release: () => {
      for (const name of signals) process.off(name, onSignal)
    },
  }
}
