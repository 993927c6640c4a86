import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { bench } from './bench.ts'
import { markdownReport } from './report/markdown.ts'
import { showProgress } from './report/progress.ts'
import { terminalReport } from './report/terminal.ts'
import type { Result } from './result.ts'
import { requestOf } from './scenarios/cells.ts'
import { scenarios } from './scenarios/index.ts'

export const help = `busbar bench <scenario> [flags]

Measures ways of running and connecting services on this machine, side by side.

Scenarios:
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
  --rounds n            so many rounds
  --budget seconds      no longer than this
  --seed n              the order of the rounds and the arrivals, to repeat a run
  --json file           writes what was found, as schema.json describes it
  --md file             writes a table in Markdown
`

const flags = {
  quick: { type: 'boolean' },
  arms: { type: 'string' },
  workers: { type: 'string' },
  connections: { type: 'string' },
  pipelining: { type: 'string' },
  work: { type: 'string' },
  preset: { type: 'string' },
  set: { type: 'string', multiple: true },
  path: { type: 'string' },
  rounds: { type: 'string' },
  budget: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'string' },
  md: { type: 'string' },
  help: { type: 'boolean' },
} as const

/** What `busbar bench` does with its arguments. Answers the exit code: 0 done, 1 nothing valid was found, 2 wrong usage. */
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
  const [name] = positionals
  if (values.help || name === undefined) {
    process.stdout.write(help)
    return name === undefined && !values.help ? 2 : 0
  }
  const scenario = scenarios.get(name)
  if (scenario === undefined)
    throw new Error(`there is no scenario "${name}"; there are ${[...scenarios.keys()].join(', ')}`)
  const variant = values.work ?? values.preset
  const stop = new AbortController()
  const progress = showProgress(process.stderr)
  process.once('SIGINT', () => stop.abort())
  const result = await bench(scenario, {
    quick: values.quick ?? false,
    command: ['busbar bench', ...args.filter((arg, at) => arg !== '--seed' && args[at - 1] !== '--seed')].join(' '),
    signal: stop.signal,
    onProgress: progress.show,
    ...(values.arms !== undefined && { arms: values.arms.split(',') }),
    ...(values.workers !== undefined && { workers: numbers('--workers', values.workers) }),
    ...(values.connections !== undefined && { connections: numbers('--connections', values.connections) }),
    ...(values.pipelining !== undefined && { work: { pipelining: number('--pipelining', values.pipelining) } }),
    ...(variant !== undefined && { variant }),
    ...(values.set !== undefined && { parameters: parametersOf(values.set) }),
    ...(values.path !== undefined && { request: { ...requestOf(scenario, { quick: false }), path: values.path } }),
    ...(values.rounds !== undefined && { rounds: number('--rounds', values.rounds) }),
    ...(values.budget !== undefined && { budgetMs: number('--budget', values.budget) * 1000 }),
    ...(values.seed !== undefined && { seed: number('--seed', values.seed) }),
  }).finally(progress.clear)
  await report(result, values)
  return result.arms.some((arm) => arm.valid) ? 0 : 1
}

async function report(result: Result, files: { json?: string; md?: string }): Promise<void> {
  process.stdout.write(terminalReport(result, { summary: false }))
  if (files.json !== undefined) await writeFile(files.json, `${JSON.stringify(result, undefined, 1)}\n`)
  if (files.md !== undefined) await writeFile(files.md, markdownReport(result, { summary: false }))
}

function parametersOf(settings: readonly string[]): Record<string, number> {
  const pairs = settings.map((setting) => setting.split('='))
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name, number(`--set ${name}`, value)]))
}

function numbers(flag: string, text: string): number[] {
  return text.split(',').map((part) => number(flag, part))
}

function number(flag: string, text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0) throw new Error(`${flag} wants a whole number, not "${text}"`)
  return value
}
