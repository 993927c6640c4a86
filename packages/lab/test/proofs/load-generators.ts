/**
 * Compares the load engine with `wrk` and `oha`: the same servers and 100 connections in one run.
 *
 *     node packages/lab/test/proofs/load-generators.ts 12 [results.jsonl]
 *
 * `WRK` and `OHA` are paths of their programs (default: on `PATH`), and one that is missing is left
 * out. `SECONDS_EACH` is the duration of each load (default 4), `SEED` the seed of the order. A
 * round visits each generator at each server, in random order and again in reverse. Besides a plain
 * `node:http` service there is a minimal server (`cargo build --release --example hello`), with
 * which the generator is the limit. Prints a line per round, then ratios to the engine with 99 %
 * intervals. Only the engine checks more of an answer than its status.
 */
import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { armProgram, type Arm } from '../../src/arm.ts'
import type { LoadJob, LoadResult } from '../../src/engine/job.ts'
import { findEngine } from '../../src/engine/load.ts'
import { assignCpus } from '../../src/machine/cpu-assignment.ts'
import { cpuSecondsOf } from '../../src/machine/processes.ts'
import { RunningArm } from '../../src/protocol/running-arm.ts'
import { randomOfRound, shuffled } from '../../src/protocol/plan.ts'
import { alignTable, ratio, whole } from '../../src/report/format.ts'
import { program } from '../../src/scenarios/launch.ts'
import { judgeAll } from '../../src/stats/verdict.ts'
import { withWorkspace } from '../../src/protocol/workspace.ts'

const { WRK = 'wrk', OHA = 'oha', SECONDS_EACH = '4', SEED = '1' } = process.env
const [rounds = '2', file] = process.argv.slice(2)
const seconds = Number(SECONDS_EACH)
const connections = 100
const body = '{"hello":"world"}'
const canned = fileURLToPath(new URL('../../../../target/release/examples/hello', import.meta.url))

/** A load generator: how to start it, and how to read its output. */
interface Generator {
  readonly name: string
  readonly command: (address: string) => readonly string[]
  readonly input?: (address: string) => string
  readonly answersIn: (output: string) => number
}

const generators: readonly Generator[] = [
  { name: 'busbar-load', command: () => findEngine().command, input: jobFor, answersIn: answersOfEngine },
  {
    name: 'wrk',
    command: (address) => [WRK, '-t1', `-c${connections}`, `-d${seconds}s`, `http://${address}/`],
    answersIn: answersOfWrk,
  },
  {
    name: 'oha',
    command: (address) =>
      `${OHA} --no-tui --output-format json -z ${seconds}s -c ${connections} http://${address}/`.split(' '),
    answersIn: answersOfOha,
  },
]

const servers: readonly Arm[] = [
  arm('node:http', [process.execPath, armProgram('scaling/hello.ts')]),
  arm('canned answers', [canned]),
]

/** One generator at one server in one round. CPU time is in microseconds per request. */
interface Figures {
  readonly perSecond: number
  readonly generatorCpu: number
  readonly serverCpu: number
}
type Round = Readonly<Record<string, Figures>>
interface Pair {
  readonly generator: Generator
  readonly server: string
}

const present = generators.filter(({ name, command }) => isThere(name, command('')[0]!))
if (!existsSync(canned)) throw new Error('cargo build --release --example hello makes the faster of the two servers')
await withWorkspace(async (workspace) => {
  const copies = await Promise.all(servers.map((server) => RunningArm.start(server, { ...workspace, workers: 1 })))
  try {
    await measure(new Map(copies.map((copy) => [copy.arm.name, copy])))
  } finally {
    await Promise.all(copies.map((copy) => copy.end()))
  }
})

async function measure(copies: ReadonlyMap<string, RunningArm>): Promise<void> {
  for (const copy of copies.values()) {
    await run(generators[0]!, copy)
    copy.freeze()
  }
  const found: Round[] = []
  for (let at = 0; at < Number(rounds); at++) {
    found.push(await oneRound(at, copies))
    const line = JSON.stringify({ round: at + 1, ...found.at(-1) })
    if (file === undefined) console.log(line)
    else appendFileSync(file, `${line}\n`)
  }
  console.log(summary(found))
}

async function oneRound(number: number, copies: ReadonlyMap<string, RunningArm>): Promise<Round> {
  const pairs = servers.flatMap(({ name: server }) => present.map((generator) => ({ generator, server })))
  const order = shuffled(pairs, randomOfRound(Number(SEED), number))
  const figures = new Map<string, Figures[]>()
  for (const pair of [...order, ...order.toReversed()]) {
    const copy = copies.get(pair.server)!
    await copy.thaw()
    const one = await run(pair.generator, copy)
    copy.freeze()
    figures.set(keyOf(pair), [...(figures.get(keyOf(pair)) ?? []), one])
  }
  return Object.fromEntries([...figures].map(([key, all]) => [key, meanOf(all)]))
}

/** The shell measures the CPU time of its child in milliseconds, the same for all generators. */
async function run({ name, command, input, answersIn }: Generator, copy: RunningArm): Promise<Figures> {
  const address = copy.target.address!
  const before = cpuSecondsOf(copy.session)
  const child = spawn('sh', ['-c', '"$@" >&3; times', 'sh', ...pinned(), ...command(address)], {
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  })
  const [stdin, stdout, , results] = child.stdio as [Writable, Readable, null, Readable, null]
  stdin.end(input?.(address) ?? '')
  const [times, output] = await Promise.all([text(stdout), text(results)])
  const answers = answersIn(output)
  if (!(answers > 0)) throw new Error(`${name} said nothing that can be read:\n${output}`)
  const perRequest = (cpu: number) => (cpu / answers) * 1e6
  const serverCpu = perRequest(cpuSecondsOf(copy.session) - before)
  return { perSecond: answers / seconds, generatorCpu: perRequest(childSeconds(times)), serverCpu }
}

/**
 * The generator's own processor, if there are enough. The workspace's launcher keeps servers off
 * it.
 */
function pinned(): string[] {
  const { generator } = assignCpus()
  return generator === undefined ? [] : ['taskset', '--cpu-list', String(generator)]
}

/** POSIX: the second line of `times` has the user and system time of children, as `1m2.345s`. */
function childSeconds(times: string): number {
  const [, children = ''] = times.split('\n')
  const parts = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, rest]) => Number(minutes) * 60 + Number(rest),
  )
  return parts.reduce((sum, part) => sum + part, 0)
}

/** The lab's request: status, length and body are checked. */
function jobFor(address: string): string {
  const job: LoadJob = {
    target: { address },
    requests: [{ path: '/', expect: { body } }],
    load: { loop: 'closed', durationMs: seconds * 1000 },
    connections,
  }
  return JSON.stringify(job)
}

function answersOfEngine(output: string): number {
  const result = JSON.parse(output.trim().split('\n').at(-1)!) as LoadResult
  if (result.failed > 0) throw new Error(`the engine found wrong answers: ${result.firstProblem}`)
  return result.done
}

function answersOfWrk(output: string): number {
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(`wrk found wrong answers:\n${output}`)
  return Number(/^\s*(\d+) requests in/m.exec(output)?.[1])
}

function answersOfOha(output: string): number {
  const found = JSON.parse(output) as { statusCodeDistribution: Record<string, number> }
  const { 200: good, ...others } = found.statusCodeDistribution
  if (Object.keys(others).length > 0) throw new Error(`oha found wrong answers: ${JSON.stringify(others)}`)
  return good ?? 0
}

function summary(found: readonly Round[]): string {
  const of = (pair: Pair) => found.map((round) => round[keyOf(pair)]!)
  const head = ['server', 'generator', 'requests/s', 'of ours', 'generator CPU', 'of ours', 'server CPU', 'of ours']
  const rows = servers.flatMap(({ name: server }) =>
    present.map((generator) => {
      const ours = of({ generator: generators[0]!, server })
      const cells = (['perSecond', 'generatorCpu', 'serverCpu'] as const).flatMap((what) => {
        const own = of({ generator, server }).map((figures) => figures[what])
        const mean = own.reduce((sum, value) => sum + value, 0) / own.length
        const shown = what === 'perSecond' ? whole(mean) : `${mean.toFixed(1)} µs`
        if (generator === generators[0]) return [shown, '–']
        const [compared] = judgeAll([own.map((value, at) => [value, ours[at]![what]] as const)])
        return [shown, ratio(compared!)]
      })
      return [server, generator.name, ...cells]
    }),
  )
  return alignTable([head, ...rows], 2).join('\n')
}

function meanOf(all: readonly Figures[]): Figures {
  const mean = (pick: (figures: Figures) => number) => all.reduce((sum, each) => sum + pick(each), 0) / all.length
  return {
    perSecond: mean(({ perSecond }) => perSecond),
    generatorCpu: mean(({ generatorCpu }) => generatorCpu),
    serverCpu: mean(({ serverCpu }) => serverCpu),
  }
}

function keyOf({ generator, server }: Pair): string {
  return `${generator.name} at ${server}`
}

function arm(name: string, command: readonly [string, ...string[]]): Arm {
  return { name, title: name, launch: (place) => ({ ...program(place, '/', { file: '' }), command }) }
}

function isThere(name: string, command: string): boolean {
  const found = spawnSync(command, ['--help'], { stdio: 'ignore' }).error === undefined
  if (!found) console.error(`left out: ${name}, since ${command} is not there`)
  return found
}
