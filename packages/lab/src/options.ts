/** What the command line understands. */
import { existsSync, statSync } from 'node:fs'
import type { parseArgs } from 'node:util'
import type { BenchOptions } from './bench.ts'
import { requestOf } from './scenarios/cells.ts'
import { scenarios } from './scenarios/index.ts'
import type { Scenario } from './scenarios/scenario.ts'

export const flags = {
  quick: { type: 'boolean' },
  arms: { type: 'string' },
  workers: { type: 'string' },
  connections: { type: 'string' },
  pipelining: { type: 'string' },
  work: { type: 'string' },
  preset: { type: 'string' },
  set: { type: 'string', multiple: true },
  path: { type: 'string' },
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
busbar bench <folder> [--path /path] [flags]   your own app, as it is
busbar bench <folder> --vary placement         the same, and wherever else its services can run
busbar bench compare before.json after.json    two runs; ends with 1 where something became slower
busbar bench doctor                            what can be told apart on this machine

Measures ways of running and connecting services on this machine, side by side.

Scenarios (busbar bench <scenario> --help tells more of one):
${[...scenarios.values()].map(({ name, question }) => `  ${name.padEnd(12)} ${question}`).join('\n')}

Flags:
  --quick               about three minutes, for differences above 10 %
  --arms a,b            just these arms, beside the baseline
  --workers 1,2         at so many workers
  --connections 10,100  with so many connections
  --pipelining n        requests in flight on each connection
  --work name           another work of the scenario, such as cpu or connect
  --preset name         the same; published: as people publish it
  --set name=n          a parameter of the scenario, such as increments
  --path /path          another path than the scenario's
  --vary placement      of an app: also with all services shared, in threads, in processes
  --open 50,70,90,120   latency at so many per cent of the baseline's capacity; none: no latency
                        (70 without --quick, none with it)
  --rounds n            so many rounds
  --budget seconds      no round that would end later, behind the first two
  --seed n              the order of the rounds and the arrivals, to repeat a run
  --resume              goes on with the same command that was ended early
  --summary             also the figures that people publish
  --json file           writes what was found, as schema.json describes it
  --compact             --json without histograms and the course of each slice
  --html file           writes one page with plots that needs nothing else
  --md file             writes the tables in Markdown
`
}

export function scenarioHelp(scenario: Scenario): string {
  const rows = (entries: readonly (readonly [string, string])[]) =>
    entries.map(([name, said]) => `  ${name.padEnd(18)} ${said}`).join('\n')
  const variants = Object.entries(scenario.variants ?? {}).map(([name, { title }]) => [name, title] as const)
  const parameters = Object.entries(scenario.parameters ?? {}).map(([name, value]) => [name, `${value}`] as const)
  const arms = scenario.arms.map(({ name, title, onlyWhenAsked }) => {
    const notes = [name === scenario.baseline && 'the baseline', onlyWhenAsked && 'when asked for'].filter(Boolean)
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

/** What of an app is varied, to be compared with the app as it is. */
export type Varied = 'placement'

export function toVaried({ vary }: Values): Varied | undefined {
  if (vary === undefined || vary === 'placement') return vary
  throw new Error(`--vary knows placement, not "${vary}"`)
}

/** Throws a sentence where a value makes no sense. */
export function toOptions(scenario: Scenario, values: Values): Omit<BenchOptions, 'command'> {
  if (values.vary !== undefined)
    throw new Error('--vary is for an app of your own: busbar bench ./app --vary placement')
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
    ...(values.pipelining !== undefined && { work: { pipelining: number('--pipelining', values.pipelining) } }),
    ...work,
    ...(values.path !== undefined && {
      request: { ...requestOf(scenario, { quick: false, ...work }), path: values.path },
    }),
    ...(values.open !== undefined && { openShares: sharesOf(values.open) }),
    ...(values.rounds !== undefined && { rounds: number('--rounds', values.rounds) }),
    ...(values.budget !== undefined && { budgetMs: number('--budget', values.budget) * 1000 }),
    ...(values.seed !== undefined && { seed: number('--seed', values.seed, 0) }),
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
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, number(`--set ${name}`, value, 0)]))
}

function numbers(flag: string, text: string): number[] {
  return text.split(',').map((part) => number(flag, part))
}

function number(flag: string, text: string, least = 1): number {
  const value = Number(text)
  if (text !== '' && Number.isInteger(value) && value >= least) return value
  throw new Error(`${flag} wants a whole number from ${least} on, not "${text}"`)
}
