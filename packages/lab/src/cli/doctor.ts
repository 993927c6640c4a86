import { readFile } from 'node:fs/promises'
import { armProgram, type Arm } from '../arm.ts'
import { bench } from '../bench.ts'
import { findEngine } from '../engine/load.ts'
import { assignCpus } from '../machine/cpu-assignment.ts'
import { describeMachine, type Machine } from '../machine/describe.ts'
import { watchDisturbance } from '../machine/disturbance.ts'
import { showProgress } from '../report/progress.ts'
import { alignTable } from '../report/format.ts'
import { percent } from '../report/sentences.ts'
import type { ArmResult, Result } from '../result.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { estimate } from '../stats/verdict.ts'
import { tQuantile } from '../stats/student.ts'

/** Reports how well this machine can measure: its noise by an A/A comparison, and disturbances. */
export async function doctor(signal: AbortSignal, output: NodeJS.WritableStream): Promise<string> {
  const machine = await describeMachine()
  const findings = [...(await onCores(machine)), ...(await onLimits())]
  const progress = showProgress(output)
  const result = await bench(comparedToItself, {
    quick: true,
    command: 'busbar bench doctor',
    timing: { warmUpMs: 1000, maxRounds: 6 },
    signal,
    onProgress: (now) => progress.show(now),
  }).finally(() => progress.clear())
  if (result.rounds < 2) throw new Error('interrupted before there was a result')
  return [...alignTable([...findings, stealOf(machine, result)], 3), '', ...noiseSentences(result), ''].join('\n')
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

/** One arm and its control, whose difference is noise. */
const comparedToItself: Scenario = {
  name: 'doctor',
  question: 'How much do two copies of the same arm differ?',
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
      assignCpus().generator === undefined
        ? 'the load generator shares them with the servers: requests per server CPU second decide'
        : 'the load generator has its own core',
    ],
    [
      'free now',
      known ? free.toFixed(1) : 'unknown',
      free > machine.cores - 0.3 ? 'good' : 'other programs run: close them for narrower intervals',
    ],
    [
      'throttled',
      known ? percent(throttled) : 'unknown',
      throttled > 0 ? 'the CPU quota is used up: slices will be lost' : 'good',
    ],
    ['governor', machine.governor ?? 'unknown', governorMeaning(machine)],
    [
      'load engine',
      findEngine().kind,
      findEngine().kind === 'autocannon' ? 'throughput only: run `cargo build --release` for latencies' : 'good',
    ],
  ]
}

/** From the slices, since an idle machine has no steal time. */
function stealOf({ platform }: Machine, { arms, notes }: Result): Finding {
  const most = Math.max(0, ...arms.flatMap(({ slices }) => slices.map(({ steal }) => steal)))
  const lost = lossIn(arms)
  const waited = notes.some((note) => note.startsWith('Waited'))
  return [
    'steal',
    platform.startsWith('linux') ? percent(most) : 'unknown',
    lost === undefined && !waited
      ? 'good'
      : `other guests of the host take CPU time: ${lost ?? 'some slices were lost'}`,
  ]
}

/** The reason if an arm is invalid because of the machine. */
function lossIn(arms: readonly ArmResult[]): string | undefined {
  return arms.flatMap(({ invalidBecause }) => invalidBecause).find((reason) => reason.includes('lost to steal'))
}

function governorMeaning({ governor, virtualised }: Machine): string {
  if (governor === null)
    return virtualised ? 'a virtual machine: the host controls clock rates' : 'clock rates may change'
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
      ports - waiting > 20_000 ? 'good' : 'a new connection per request may use them up',
    ],
  ]
}

/** The smallest difference that a number of rounds can show, with the scatter of this run. */
function noiseSentences(result: Result): string[] {
  const decides = result.machine.platform.startsWith('linux') && assignCpus().generator === undefined
  const metric = decides ? 'perCpuSecond' : 'perSecond'
  const logs = roundsOf(result, metric)
  if (logs.length < 2)
    return ['Too few slices are left for an estimate: measure at another time, or on another machine.']
  const { error } = estimate(logs)
  const scatter = error * Math.sqrt(logs.length)
  const visible = (rounds: number) => Math.expm1((tQuantile(0.99, rounds - 1) * scatter) / Math.sqrt(rounds))
  const [quickly, fully] = [visible(6), visible(30)]
  const what = metric === 'perCpuSecond' ? 'requests per server CPU second' : 'requests per second'
  return [
    `Two copies of the same service, ${logs.length} rounds: their ${what} differed by ${percent(result.floor[metric] - 1)}, and between rounds by ${percent(Math.expm1(scatter))}.`,
    `This machine can show differences above ${percent(quickly)} with --quick (6 rounds), and above ${percent(fully)} with 30 rounds.`,
    lossIn(result.arms) === undefined
      ? advice(quickly)
      : 'But too many slices were lost: measure at another time, or on another machine.',
    ...result.notes.filter((note) => /^(Other programs|Waited)/.test(note)),
  ]
}

function advice(visible: number): string {
  if (visible < 0.1) return 'This machine measures well.'
  if (visible < 0.3) return 'Good enough for large differences. For small ones use more rounds, or a quieter machine.'
  return 'Only very large differences will show: close other programs, or use another machine.'
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
