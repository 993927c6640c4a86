/** The command line of `busbar bench`. */
import { existsSync, statSync } from 'node:fs'
import type { parseArgs } from 'node:util'
import type { BenchOptions } from '../bench.ts'
import { requestOf } from '../scenarios/cells.ts'
import { scenarios } from '../scenarios/index.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import type { Varied } from '../user-app/placements.ts'

export const flags = {
  quick: { type: 'boolean' },
  arms: { type: 'string' },
  baseline: { type: 'string' },
  workers: { type: 'string' },
  connections: { type: 'string' },
  pipelining: { type: 'string' },
  work: { type: 'string' },
  preset: { type: 'string' },
  set: { type: 'string', multiple: true },
  path: { type: 'string' },
  method: { type: 'string' },
  header: { type: 'string', multiple: true },
  body: { type: 'string' },
  requests: { type: 'string' },
  url: { type: 'string' },
  'skip-verify': { type: 'boolean' },
  http2: { type: 'boolean' },
  proto: { type: 'string' },
  call: { type: 'string' },
  ramp: { type: 'string' },
  'hold-p99': { type: 'string' },
  seconds: { type: 'string' },
  vary: { type: 'string' },
  open: { type: 'string' },
  rounds: { type: 'string' },
  budget: { type: 'string' },
  seed: { type: 'string' },
  resume: { type: 'boolean' },
  summary: { type: 'boolean' },
  json: { type: 'string' },
  compact: { type: 'boolean' },
  html: { type: 'string' },
  md: { type: 'string' },
  help: { type: 'boolean' },
} as const

export type Values = { [Name in keyof Parsed]?: Parsed[Name] | undefined }
type Parsed = ReturnType<typeof parseArgs<{ options: typeof flags }>>['values']

export function help(): string {
  return `busbar bench <scenario> [flags]
busbar bench <folder> [--path /path] [flags]   measures your own app
busbar bench <folder> --vary placement         compares placements of its services
busbar bench --url http://host:port/path       measures a server that runs already
busbar bench compare before.json after.json    compares two runs; exits with 1 if something is slower
busbar bench doctor                            how small a difference this machine can show

Measures ways of running and connecting services on this machine, side by side.

Scenarios (details: busbar bench <scenario> --help):
${[...scenarios.values()].map(({ name, question }) => `  ${name.padEnd(12)} ${question}`).join('\n')}

Flags:
  --quick               about three minutes, for differences above 10 %
  --arms a,b            only these arms and the baseline
  --baseline name       the arm with which all others are compared
  --workers 1,2         numbers of workers
  --connections 10,100  numbers of connections
  --pipelining n        requests in flight on each connection; over HTTP/2 its streams
  --work name           a variant of the scenario, such as cpu or connect
  --preset name         the same; published: as usually published
  --set name=n          a parameter of the scenario, such as increments
  --path /path          replaces the scenario's path
  --method POST         for an app or --url: the method
  --header 'name: x'    a header; may be given several times
  --body text           the body; @file: the content of a file
  --requests file       several requests: JSON, or lines of [weight] [METHOD] /path
  --url address         a server that runs already, instead of a folder
  --hold-p99 ms         searches the highest rate at which p99 stays within that
  --ramp 100..2000      latency at ten rates from the first to the second, per second
  --seconds n           for --url, --ramp and --hold-p99: length of each measurement (default 5)
  --skip-verify         with --url https: accept any certificate
  --http2               with --url: HTTP/2, in clear too
  --proto file          with --url: a .proto file, for a call of gRPC
  --call S/Method       with --proto: the method, such as shop.v1.Cart/Add; --body is its message as JSON
  --vary placement      for an app: also with all services shared, in threads, in processes
  --open 50,70,90,120   latency at these percentages of the baseline's capacity; none: no latency
                        (default: 70, with --quick none)
  --rounds n            number of rounds
  --budget seconds      time limit; at least two rounds run
  --seed n              reproduces the order of arms and the arrivals of a run
  --resume              continues an interrupted run of the same command
  --summary             adds the usual summary table
  --json file           writes the result, as schema.json describes it
  --compact             --json without histograms and time series
  --html file           writes a self-contained page with plots
  --md file             writes the tables as Markdown
`
}

export function scenarioHelp(scenario: Scenario): string {
  const rows = (entries: readonly (readonly [string, string])[]) =>
    entries.map(([name, text]) => `  ${name.padEnd(18)} ${text}`).join('\n')
  const variants = Object.entries(scenario.variants ?? {}).map(([name, { title }]) => [name, title] as const)
  const parameters = Object.entries(scenario.parameters ?? {}).map(([name, value]) => [name, `${value}`] as const)
  const arms = scenario.arms.map(({ name, title, onlyWhenAsked }) => {
    const notes = [name === scenario.baseline && 'the baseline', onlyWhenAsked && 'only if requested'].filter(Boolean)
    return [name, notes.length === 0 ? title : `${title} (${notes.join(', ')})`] as const
  })
  return [
    `busbar bench ${scenario.name} [flags]\n\n${scenario.question}\n`,
    `Arms (--arms):\n${rows(arms)}\n`,
    ...(variants.length > 0 ? [`Work (--work):\n${rows(variants)}\n`] : []),
    ...(parameters.length > 0 ? [`Parameters (--set):\n${rows(parameters)}\n`] : []),
    `Workers ${scenario.workers.join(', ')}; connections ${scenario.connections.join(', ')}. busbar bench --help lists all flags.\n`,
  ].join('\n')
}

export function toVaried({ vary }: Values): Varied | undefined {
  if (vary === undefined || vary === 'placement') return vary
  throw new Error(`--vary supports placement, not "${vary}"`)
}

/** What says how to request an own app. */
export const ownOnly = [
  'method',
  'header',
  'body',
  'requests',
  'url',
  'skip-verify',
  'http2',
  'proto',
  'call',
  'ramp',
  'hold-p99',
  'seconds',
] as const satisfies readonly (keyof Values)[]

/** Throws if a flag that needs `--url` is given with a folder. */
export function checkFolderFlags(values: Values): void {
  const name = (['http2', 'proto', 'call'] as const).find((each) => values[each] !== undefined)
  if (name !== undefined) throw new Error(`--${name} needs a running server: --url`)
}

/** What a comparison of arms has, and one server at several rates has not. */
const comparing = [
  'quick',
  'arms',
  'baseline',
  'workers',
  'work',
  'preset',
  'set',
  'vary',
  'open',
  'rounds',
  'budget',
  'resume',
  'summary',
  'compact',
  'html',
  'md',
] as const satisfies readonly (keyof Values)[]

/** Throws if `--url`, `--ramp` or `--hold-p99` is given with a flag for a comparison. */
export function checkRatesFlags(values: Values): void {
  const by = (['url', 'ramp', 'hold-p99'] as const).find((each) => values[each] !== undefined)
  const name = comparing.find((each) => values[each] !== undefined)
  if (name !== undefined) throw new Error(`--${name} is for a comparison, and --${by} compares nothing: leave it out`)
}

/** The scenario with another baseline. Throws an error with a message for the user. */
export function withBaseline(scenario: Scenario, baseline: string | undefined): Scenario {
  if (baseline === undefined) return scenario
  const names = scenario.arms.map(({ name }) => name)
  if (names.includes(baseline)) return { ...scenario, baseline }
  throw new Error(`${scenario.name} has no arm "${baseline}"; it has ${names.join(', ')}`)
}

/** Throws an error with a message for the user if a value is invalid. */
export function toOptions(scenario: Scenario, values: Values): Omit<BenchOptions, 'command'> {
  if (values.vary !== undefined)
    throw new Error('--vary needs the folder of an app: busbar bench ./app --vary placement')
  const own = ownOnly.find((name) => values[name] !== undefined)
  if (own !== undefined) throw new Error(`--${own} needs the folder of an app, or --url`)
  const variant = values.work ?? values.preset
  const work = {
    ...(variant !== undefined && { variant }),
    ...(values.set !== undefined && { parameters: parametersOf(values.set) }),
  }
  return {
    quick: values.quick ?? false,
    resume: values.resume ?? false,
    ...(values.arms !== undefined && { arms: values.arms.split(',') }),
    ...(values.workers !== undefined && { workers: numbers('--workers', values.workers) }),
    ...(values.connections !== undefined && { connections: numbers('--connections', values.connections) }),
    ...(values.pipelining !== undefined && { work: { pipelining: wholeNumber('--pipelining', values.pipelining) } }),
    ...work,
    ...(values.path !== undefined && {
      request: { ...requestOf(scenario, { quick: false, ...work }), path: values.path },
    }),
    ...(values.open !== undefined && { openShares: sharesOf(values.open) }),
    ...(values.rounds !== undefined && { rounds: wholeNumber('--rounds', values.rounds) }),
    ...(values.budget !== undefined && { budgetMs: wholeNumber('--budget', values.budget) * 1000 }),
    ...(values.seed !== undefined && { seed: wholeNumber('--seed', values.seed, 0) }),
  }
}

export function isFolder(name: string): boolean {
  return existsSync(name) && (statSync(name).isDirectory() || /[./]/.test(name))
}

function sharesOf(text: string): number[] {
  return text === 'none' ? [] : numbers('--open', text).map((percent) => percent / 100)
}

function parametersOf(settings: readonly string[]): Record<string, number> {
  const pairs = settings.map((setting) => /^([^=]*)=?(.*)$/s.exec(setting)!)
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, wholeNumber(`--set ${name}`, value, 0)]))
}

function numbers(flag: string, text: string): number[] {
  return text.split(',').map((part) => wholeNumber(flag, part))
}

/** Throws an error with a message for the user. */
export function wholeNumber(flag: string, text: string, min = 1): number {
  const value = Number(text)
  if (text !== '' && Number.isInteger(value) && value >= min) return value
  throw new Error(`${flag} needs an integer of at least ${min}, not "${text}"`)
}
