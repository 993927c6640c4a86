import { readFile } from 'node:fs/promises'
import { armProgram, type Arm } from './arm.ts'
import { bench } from './bench.ts'
import { findEngine } from './engine/load.ts'
import { shareOut } from './machine/cores.ts'
import { describeMachine, type Machine } from './machine/describe.ts'
import { watchDisturbance } from './machine/disturbance.ts'
import { showProgress } from './report/progress.ts'
import { alignTable } from './report/table.ts'
import { percent } from './report/words.ts'
import type { ArmResult, Result } from './result.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { estimate } from './stats/verdict.ts'
import { tQuantile } from './stats/student.ts'

/** What a machine is like as a place to measure, as text: its noise by A/A, and whatever may get in the way. */
export async function doctor(signal: AbortSignal, output: NodeJS.WritableStream): Promise<string> {
  const machine = await describeMachine()
  const findings = [...(await onCores(machine)), ...(await onLimits())]
  const progress = showProgress(output)
  const result = await bench(againstItself, {
    quick: true,
    command: 'busbar bench doctor',
    timing: { warmUpMs: 1000 },
    signal,
    onProgress: (said) => progress.show(said),
  }).finally(() => progress.clear())
  if (result.rounds < 2) throw new Error('ended before anything could be told')
  return [...alignTable([...findings, stealOf(machine, result)], 3), '', ...noiseInWords(result), ''].join('\n')
}

const hello: Arm = {
  name: 'hello',
  title: 'a plain node:http service',
  launch: ({ port }) => ({
    command: [process.execPath, armProgram('scaling/hello.ts')],
    env: { PORT: String(port) },
    target: { address: `127.0.0.1:${port}`, path: '/' },
  }),
}

/** One arm and its control: whatever these two differ by is noise. */
const againstItself: Scenario = {
  name: 'doctor',
  question: 'What differs where nothing differs?',
  baseline: 'hello',
  arms: [hello],
  quick: { arms: ['hello'] },
  connections: [50],
  workers: [1],
  request: () => ({ path: '/', expect: { body: '{"hello":"world"}' } }),
}

type Finding = [what: string, found: string, meaning: string]

async function onCores(machine: Machine): Promise<Finding[]> {
  const since = await watchDisturbance()
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const { throttled, busySeconds, seconds } = await since()
  const free = Math.max(0, machine.cores - busySeconds / seconds)
  const known = machine.platform.startsWith('linux')
  return [
    [
      'cores',
      `${machine.cores}`,
      shareOut().generator === undefined
        ? 'the load generator shares them with the servers: requests per server CPU second decide'
        : 'the load generator has one of its own',
    ],
    [
      'free now',
      known ? free.toFixed(1) : 'unknown',
      free > machine.cores - 0.3 ? 'good' : 'other programs run: close them, or intervals become wide',
    ],
    [
      'throttled',
      known ? percent(throttled) : 'unknown',
      throttled > 0 ? 'a CPU quota is used up: slices will be lost' : 'good',
    ],
    ['governor', machine.governor ?? 'not told', governorMeaning(machine)],
    [
      'load engine',
      findEngine().kind,
      findEngine().kind === 'autocannon' ? 'throughput only: `cargo build --release` makes our own' : 'good',
    ],
  ]
}

/** Told of the slices, since nothing is stolen from a machine that wants nothing. */
function stealOf({ platform }: Machine, { arms, notes }: Result): Finding {
  const most = Math.max(0, ...arms.flatMap(({ slices }) => slices.map(({ steal }) => steal)))
  const lost = lossIn(arms)
  const waited = notes.some((note) => note.startsWith('Waited'))
  return [
    'steal',
    platform.startsWith('linux') ? percent(most) : 'unknown',
    lost === undefined && !waited
      ? 'good'
      : `other guests of the host take this machine’s time: ${lost ?? 'some slices were lost'}`,
  ]
}

/** Why an arm does not count, where that is the machine. */
function lossIn(arms: readonly ArmResult[]): string | undefined {
  return arms.flatMap(({ invalidBecause }) => invalidBecause).find((reason) => reason.includes('lost to steal'))
}

function governorMeaning({ governor, virtualised }: Machine): string {
  if (governor === null)
    return virtualised ? 'a virtual machine: the host decides on clock rates' : 'clock rates may change'
  return governor === 'performance'
    ? 'good'
    : 'clock rates change with the load: `cpupower frequency-set -g performance`'
}

async function onLimits(): Promise<Finding[]> {
  const read = (file: string) => readFile(file, 'utf8').catch(() => '')
  const [limits, range, sockets] = await Promise.all(
    ['/proc/self/limits', '/proc/sys/net/ipv4/ip_local_port_range', '/proc/net/sockstat'].map(read),
  )
  const files = Number(/^Max open files\s+\S+\s+(\d+)/m.exec(limits!)?.[1] ?? Number.NaN)
  const [first, last] = range!.trim().split(/\s+/).map(Number)
  const ports = range === '' ? Number.NaN : last! - first! + 1
  const waiting = Number(/^TCP:.*\btw (\d+)/m.exec(sockets!)?.[1] ?? 0)
  if (Number.isNaN(files)) return []
  return [
    [
      'descriptors',
      `${files}`,
      files >= 4096 ? 'good' : 'too few for 1,000 connections to five processes: raise `ulimit -Hn`',
    ],
    [
      'ports',
      `${ports}, ${waiting} waiting`,
      ports - waiting > 20_000 ? 'good' : 'a new connection for each request may run out of them',
    ],
  ]
}

/** The smallest difference that a number of rounds can tell from nothing, if they scatter as these did. */
function noiseInWords(result: Result): string[] {
  const decides = result.machine.platform.startsWith('linux') && shareOut().generator === undefined
  const metric = decides ? 'perCpuSecond' : 'perSecond'
  const logs = roundsOf(result, metric)
  if (logs.length < 2)
    return ['Too little was left to tell what can be told apart here: measure at another time, or elsewhere.']
  const { error } = estimate(logs)
  const scatter = error * Math.sqrt(logs.length)
  const visible = (rounds: number) => Math.expm1((tQuantile(0.99, rounds - 1) * scatter) / Math.sqrt(rounds))
  const [quickly, fully] = [visible(6), visible(30)]
  const what = metric === 'perCpuSecond' ? 'requests per server CPU second' : 'requests per second'
  return [
    `Two copies of the same service, ${logs.length} rounds: their ${what} differed by ${percent(result.floor[metric] - 1)}, and from round to round by ${percent(Math.expm1(scatter))}.`,
    `With --quick (6 rounds) differences above ${percent(quickly)} can be told apart here, with 30 rounds those above ${percent(fully)}.`,
    lossIn(result.arms) === undefined
      ? advice(quickly)
      : 'But more was lost than may be: measure at another time, or elsewhere.',
    ...result.notes.filter((note) => /^(Other programs|Waited)/.test(note)),
  ]
}

function advice(visible: number): string {
  if (visible < 0.1) return 'That is a good place to measure.'
  if (visible < 0.3)
    return 'That will do for what matters most; for small differences take more rounds, or a quieter machine.'
  return 'Only large differences will show: close other programs, or take another machine.'
}

function roundsOf(result: Result, metric: 'perSecond' | 'perCpuSecond'): number[] {
  const sums = result.arms.map(({ slices }) => Map.groupBy(slices, ({ round }) => round))
  const [one, other] = sums as [(typeof sums)[0], (typeof sums)[0]]
  const mean = (slices: readonly { perSecond: number; perCpuSecond: number | null }[] | undefined) =>
    (slices ?? []).reduce((sum, slice) => sum + (slice[metric] ?? 0), 0) / (slices?.length || 1)
  return [...one.keys()]
    .map((round) => Math.log(mean(other.get(round)) / mean(one.get(round))))
    .filter((value) => Number.isFinite(value))
}
