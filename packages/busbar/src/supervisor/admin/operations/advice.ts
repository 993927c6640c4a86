/** What costs most in an app, and where its services should run. */
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { BusbarError } from '../../../contract/errors.ts'
import { advise } from '../../../observe/advice/advise.ts'
import { placementCosts } from '../../../observe/advice/placement-costs.ts'
import { findSlowParts } from '../../../observe/advice/slow-parts.ts'
import { isCalmer, measureCosts, readCosts } from '../../advice/placement-costs.ts'
import { tryMoves } from '../../advice/try-moves.ts'
import { modelParts, watchApp } from '../../advice/watch-app.ts'
import { defineJson } from './operation.ts'
import { knownService } from './serving-worker.ts'
import { redactedStatus } from '../status/redacted.ts'

const run = z.enum(['shared', 'thread', 'process'])
const milliseconds = z.number().nullable().meta({ description: 'milliseconds; null without calls' })
const processors = z.number().meta({ description: 'processors' })

const effect = z.object({
  cpu: processors,
  mean: milliseconds,
  p99: milliseconds,
  utilization: z.number().meta({ description: 'of the busiest workers, or of the machine: 1 is all of it' }),
})

function secondsInput(fallback: number) {
  const seconds = z.coerce.number().min(0.1).max(600).default(fallback)
  return seconds.meta({ description: 'how long the app is watched' })
}

export const getSlowParts = defineJson({
  name: 'getSlowParts',
  method: 'GET',
  path: '/slow-parts',
  summary: 'Watches the app for some seconds, and names the worker, service and hop that cost most.',
  input: z.strictObject({ seconds: secondsInput(5) }),
  output: z.object({
    seconds: z.number(),
    parts: z.array(
      z.object({
        kind: z.enum(['blocked', 'waiting', 'loop', 'service', 'hop', 'delay', 'elsewhere']),
        what: z.string(),
        text: z.string().meta({ description: 'one sentence' }),
        figures: z.record(z.string(), z.number()).meta({ description: 'milliseconds, and shares from 0 to 1' }),
      }),
    ),
  }),
  async handle({ seconds }, { running, observations, signal }) {
    const since = Date.now()
    const before = redactedStatus(running.status(), running.app)
    await sleep(seconds * 1000, undefined, { signal })
    const traces = observations.traces.list({ limit: 1000, failed: false })
    const recent = traces.filter(({ spans }) => spans[0]!.start >= since)
    const parts = findSlowParts(before, redactedStatus(running.status(), running.app), seconds, recent)
    return { seconds, parts: parts.map((part) => ({ ...part, figures: { ...part.figures } })) }
  },
})

const move = z.object({ service: z.string(), from: run, run })

const adviceOutput = z.object({
  seconds: z.number().meta({ description: 'how long the app was watched' }),
  now: effect.extend({
    cpu: processors.nullable().meta({ description: 'processors; null: not known' }),
    utilization: effect.shape.utilization.nullable(),
    callsPerSecond: z.number().meta({ description: 'from outside' }),
    cores: processors.meta({ description: 'processors without those that other processes use' }),
    busiest: z.string().nullable(),
  }),
  services: z.array(
    z.object({
      service: z.string(),
      run,
      callsPerSecond: z.number(),
      cpu: processors.nullable().meta({ description: 'without the calls that it makes and answers; null: not known' }),
      elsewhere: z.array(z.object({ run, change: effect })),
      fixed: z.string().nullable().meta({ description: 'why it stays where it is' }),
    }),
  ),
  suggestions: z
    .array(
      z.object({
        moves: z.array(move),
        text: z.string(),
        change: effect,
        figures: z.array(z.string()),
        cautions: z.array(z.string()),
      }),
    )
    .meta({ description: 'the best first; empty if nothing is clearly better' }),
  unknown: z.array(z.string()).meta({ description: 'what the advice does not know' }),
  costs: placementCosts.meta({ description: 'what calls cost on this machine' }),
})

export const getAdvice = defineJson({
  name: 'getAdvice',
  method: 'GET',
  path: '/advice',
  summary: 'Watches the app for some seconds, and estimates what its services would cost elsewhere.',
  input: z.strictObject({ seconds: secondsInput(10) }),
  output: adviceOutput,
  async handle({ seconds }, context) {
    const { running, signal } = context
    const costs = await readCosts(running.app.accelerators)
    if (costs === undefined)
      throw new BusbarError('OPERATION_UNSUPPORTED', {
        message: 'the costs of calls were not measured on this machine with this version of Node',
        hint: 'POST /advice/costs measures them, as busbar advise does; it takes some ten seconds of a processor.',
      })
    const window = await watchApp(context, seconds, signal)
    const advice = advise(await modelParts(context, window, costs))
    return { ...(structuredClone(advice) as Omit<z.output<typeof adviceOutput>, 'costs'>), costs }
  },
})

export const getCosts = defineJson({
  name: 'getCosts',
  method: 'GET',
  path: '/advice/costs',
  summary: 'What calls cost on this machine, if it was measured.',
  input: z.strictObject({}),
  output: z.object({
    costs: placementCosts.nullable(),
    distorted: z
      .boolean()
      .meta({ description: 'whether other processes distorted them that use less than half as much now' }),
  }),
  async handle(_, { running, signal }) {
    const costs = await readCosts(running.app.accelerators)
    if (costs === undefined) return { costs: null, distorted: false }
    return { costs, distorted: await isCalmer(costs, signal) }
  },
})

export const measureCallCosts = defineJson({
  name: 'measureCallCosts',
  method: 'POST',
  path: '/advice/costs',
  summary: 'Measures what calls cost on this machine, and keeps it for this user and version of Node.',
  input: z.strictObject({}),
  output: z.object({ costs: placementCosts }),
  handle: async (_, { running, signal }) => ({ costs: await measureCosts(running.app.accelerators, signal) }),
})

const measured = z.object({
  calls: z.int(),
  failures: z.int(),
  mean: milliseconds,
  p50: milliseconds,
  p99: milliseconds,
  callsPerSecond: z.number(),
  cpu: processors.nullable(),
  cpuPerCall: milliseconds.meta({ description: 'milliseconds of processor time' }),
  spread: z.number().meta({ description: 'how far apart the means of parts of the time are, relative to the median' }),
  low: milliseconds.meta({ description: 'the shortest mean of such a part but one' }),
  high: milliseconds.meta({ description: 'the longest but one' }),
})

export const tryAdvice = defineJson({
  name: 'tryAdvice',
  method: 'POST',
  path: '/advice/try',
  summary: 'Moves services, measures the app before and after, and moves them back if it is worse.',
  input: z.strictObject({
    moves: z
      .array(z.strictObject({ service: z.string(), run }))
      .min(1)
      .max(100),
    seconds: secondsInput(10),
    settle: z.number().min(0).max(600).default(3).meta({ description: 'seconds before the second measurement' }),
  }),
  output: z.object({
    before: measured,
    after: measured,
    kept: z.boolean().meta({ description: 'false: everything is where it was' }),
    why: z.string(),
  }),
  async handle({ moves, seconds, settle }, context) {
    for (const { service } of moves) knownService(context.running.app, service)
    return await tryMoves(context, { moves, seconds, settle }, context.signal)
  },
})
