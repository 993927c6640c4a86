/** `--url`, `--ramp` and `--hold-p99` of `busbar bench`: one server at several rates. */
import { writeFile } from 'node:fs/promises'
import { findEngine, type Engine } from '../engine/load.ts'
import type { LoadJob, LoadRequest, Protocol } from '../engine/job.ts'
import { sendRequest } from '../protocol/client/send-request.ts'
import { withWorkspace } from '../protocol/workspace.ts'
import { inTurn } from '../protocol/slice.ts'
import { RunningArm } from '../protocol/running-arm.ts'
import { holdP99, type Held } from '../rates/hold-p99.ts'
import { probe, type Probe } from '../rates/probe.ts'
import { noAnswerReason, toTarget } from '../rates/target.ts'
import { loadSummary } from '../report/load-summary.ts'
import { heldText, probesText } from '../report/rates.ts'
import { ownCall, ownRequests } from '../user-app/own-requests.ts'
import { userAppScenario } from '../user-app/user-app.ts'
import { checkRatesFlags, type Values, wholeNumber } from './options.ts'

export interface RatesRun {
  readonly values: Values
  readonly signal: AbortSignal
  readonly print: (text: string) => void
}

/** What was measured of one server, as `--json` writes it. */
interface RatesResult {
  readonly name: string
  readonly capacity: Probe
  readonly ramp: readonly Probe[]
  readonly held: Held | null
}

const rampSteps = 10
const usualSeconds = 5
const usualConnections = 50

/** Whether the command line asks for this instead of a comparison of arms. */
export function wantsRates({ url, ramp, 'hold-p99': hold }: Values): boolean {
  return url !== undefined || ramp !== undefined || hold !== undefined
}

/** A server that runs already. Returns the exit code. */
export async function measureUrl(run: RatesRun): Promise<number> {
  const { values, signal } = run
  checkRatesFlags(values)
  if (values.path !== undefined) throw new Error('--url has the path already: leave --path out')
  const call = await ownCall(values)
  const protocol = call !== undefined || values.http2 === true ? 'http2' : 'http1'
  checkEngine(findEngine(), values, protocol)
  const { target, path, host } = await toTarget(values.url!, { protocol, skipVerify: values['skip-verify'] === true })
  if (call !== undefined && path !== '/') throw new Error(`--call says what is called: leave ${path} out of --url`)
  const { requests, weights } = call ?? (await ownRequests(values, path))
  const named = requests.map((request) => withHost(request, host))
  const asked = named.map(async (request) => {
    const { tls, ...where } = target
    const { status } = await sendRequest(
      tls === undefined ? where : { ...where, certificate: tls.certificate, serverName: tls.serverName },
      request,
    ).catch((error: Error) => {
      throw new Error(`${values.url} gave no answer: ${noAnswerReason(error, protocol)}`, { cause: error })
    })
    return { ...request, expect: { status } }
  })
  const [first, ...more] = await Promise.all(asked)
  const turn = inTurn({ requests: [first!, ...more], weights })
  const result = await measureOne({ name: values.url!, target, requests: turn }, run)
  return await finish([result], values, signal)
}

/** An own app: each of its arms alone. Returns the exit code. */
export async function measureRatesOfApp(folder: string, run: RatesRun): Promise<number> {
  const { values, signal } = run
  checkRatesFlags(values)
  const own = await ownRequests(values)
  const { scenario } = await userAppScenario(folder, { own, vary: undefined, signal })
  const results: RatesResult[] = []
  for (const arm of scenario.arms)
    await withWorkspace(async (workspace) => {
      const running = await RunningArm.start(arm, { ...workspace, workers: 1, signal })
      try {
        const [first, ...more] = await Promise.all(
          own.requests.map(async (request) => ({
            ...request,
            expect: { status: (await running.ask(request)).status },
          })),
        )
        const requests = inTurn({ requests: [first!, ...more], weights: own.weights })
        results.push(await measureOne({ name: arm.title, target: await running.loadTarget(), requests }, run))
      } finally {
        await running.end()
      }
    })
  return await finish(results, values, signal)
}

interface Measured {
  readonly name: string
  readonly target: LoadJob['target']
  readonly requests: readonly LoadRequest[]
}

async function measureOne(
  { name, target, requests }: Measured,
  { values, signal, print }: RatesRun,
): Promise<RatesResult> {
  const engine = findEngine()
  const probeMs = wholeNumber('--seconds', values.seconds ?? `${usualSeconds}`) * 1000
  const connections = wholeNumber('--connections', values.connections ?? `${usualConnections}`)
  const pipelining = wholeNumber('--pipelining', values.pipelining ?? '1')
  const options = { engine, target, requests, connections, pipelining, probeMs, signal }
  let seed = wholeNumber('--seed', values.seed ?? '1', 0)
  const rates = ratesOf(values.ramp)
  const limit = values['hold-p99'] === undefined ? undefined : wholeNumber('--hold-p99', values['hold-p99'])
  const measure = (rate: number | null): Promise<Probe> => probe(options, rate, seed++)
  checkEngine(engine, values, target.protocol)
  // Warms the server up.
  await measure(null)
  const capacity = await measure(null)
  const ramp: Probe[] = []
  for (const rate of rates) ramp.push(await measure(rate))
  print(probesText(name, [capacity, ...ramp]))
  print(loadSummary(capacity))
  if (answersNothing(capacity)) print(`No answer came within ${probeMs / 1000} s: give it longer by --seconds.\n`)
  if (limit === undefined) return { name, capacity, ramp, held: null }
  const held = await holdP99(limit, Math.max(1, capacity.perSecond), measure)
  print(heldText(held, limit, values.seconds ?? `${usualSeconds}`))
  return { name, capacity, ramp, held }
}

function checkEngine({ kind }: Engine, { ramp, 'hold-p99': hold }: Values, protocol: Protocol = 'http1'): void {
  if (kind === 'busbar-load') return
  if (protocol === 'http2') throw new Error('HTTP/2 and gRPC need the load engine: `cargo build --release` makes it')
  if (ramp === undefined && hold === undefined) return
  throw new Error('--ramp and --hold-p99 need the load engine, since autocannon measures no latencies at a rate')
}

/** `100..2000` as ten rates, evenly spaced. */
function ratesOf(text: string | undefined): number[] {
  if (text === undefined) return []
  const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(text) ?? []
  const [first, last] = [Number(from), Number(to)]
  if (from === undefined || first < 1 || last < first)
    throw new Error(`--ramp needs two rates such as 100..2000, not "${text}"`)
  return Array.from({ length: rampSteps }, (_, step) => Math.round(first + ((last - first) * step) / (rampSteps - 1)))
}

function withHost(request: LoadRequest, host: string): LoadRequest {
  const headers = request.headers ?? []
  const has = headers.some(([name]) => name.toLowerCase() === 'host')
  return has ? request : { ...request, headers: [['host', host], ...headers] }
}

/** It answers too late to be counted. */
function answersNothing({ failed, perSecond }: Probe): boolean {
  return failed === 0 && perSecond === 0
}

async function finish(results: readonly RatesResult[], { json }: Values, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted()
  if (json !== undefined) await writeFile(json, `${JSON.stringify(results, undefined, 2)}\n`)
  const failed = results.some(
    ({ capacity, held }) => capacity.failed > 0 || answersNothing(capacity) || held?.rate === null,
  )
  return failed ? 1 : 0
}
