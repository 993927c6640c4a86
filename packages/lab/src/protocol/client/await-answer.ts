import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import type { Arm, ArmTarget, Readiness } from '../../arm.ts'
import { listeningPorts, type SessionPorts, sessionPorts } from '../../machine/listening-ports.ts'
import type { LoadRequest } from '../../engine/job.ts'
import { listeningHost, type LoopbackHost } from './loopback.ts'
import type { Answer } from '../parity.ts'
import { placeOf } from './request-target.ts'

/** What has to be known of an arm that starts. */
export interface StartingArm {
  readonly arm: Arm
  readonly target: ArmTarget
  /** The first of the ports that it was given. */
  readonly port: number
  readonly session: number
  readonly hasEnded: boolean
  readonly output: string
  readonly closed: Promise<void>
  ask(request: LoadRequest): Promise<Answer>
  listensAt(host: LoopbackHost, port: number): void
}

export interface AwaitOptions {
  readonly signal?: AbortSignal
  /** How long it may take until it answers. Default: 30,000. */
  readonly startTimeoutMs?: number
}

/** An arm runs and does not answer where it should. */
export class NoAnswerError extends Error {
  /** Where it listens. Undefined if that is unknown. */
  readonly ports: SessionPorts | undefined
  /** The first of the ports that it was given. */
  readonly port: number

  constructor(message: string, ports: SessionPorts | undefined, port: number) {
    super(message)
    this.ports = ports
    this.port = port
  }
}

/** Errors of a client of HTTP/1.1 whose server speaks something else, or is not up yet. */
const looksForeign = /^(?:socket hang up|read ECONNRESET|Parse Error)/

/** Milliseconds in which the output of a process that has ended is read. */
const outputDelay = 100
/** Milliseconds between two attempts. */
const pause = 25
/** Attempts with an answer that is final if it stays: three seconds. */
const finalAfter = 120

/** Waits until an arm is ready. Throws, with its output, if it ends or takes too long. */
export async function awaitAnswer(starting: StartingArm, ready: Readiness, options: AwaitOptions): Promise<void> {
  const { signal, startTimeoutMs = 30_000 } = options
  const { arm, target, closed } = starting
  const deadline = performance.now() + startTimeoutMs
  let last = ''
  let refused = 0
  let failed = 0
  while (performance.now() < deadline && refused <= finalAfter) {
    signal?.throwIfAborted()
    if (starting.hasEnded) {
      // What it said last may still be in the pipe, which its children may keep open.
      await Promise.race([closed, sleep(outputDelay)])
      throw new Error(`${arm.name} ended before it answered:\n${starting.output}`)
    }
    try {
      for (const port of ready.ports) starting.listensAt(await listeningHost(port), port)
      const { status } = await starting.ask({ path: target.path })
      if (status === 200 || (ready.status === 'any' && (status < 500 || failed++ > finalAfter))) return
      last = `it answered ${status}`
      // A 5xx may mean that it is still starting.
      refused += status < 500 ? 1 : 0
    } catch (error) {
      last = (error as Error).message
      // A server that starts may close connections for a while, too.
      refused += ready.status === 'any' && looksForeign.test(last) ? 1 : 0
    }
    await sleep(pause)
  }
  const why = await whyNoAnswer(starting, last, startTimeoutMs)
  const message = `${arm.name} gave no good answer at ${target.path} (${why}):\n${starting.output}`.trim()
  throw new NoAnswerError(message, await sessionPorts(starting.session), starting.port)
}

/** The result of the last attempt, and whether a longer timeout could help. */
async function whyNoAnswer({ session, target }: StartingArm, last: string, startTimeoutMs: number): Promise<string> {
  if (last.startsWith('it answered')) return last
  const { address } = target
  const foreign = address !== undefined && looksForeign.test(last) ? await otherProtocol(address, last) : undefined
  if (foreign !== undefined) return foreign
  const waited = `after ${startTimeoutMs / 1000} s`
  const ports = await listeningPorts(session)
  if (address === undefined || ports === undefined) return `${last} ${waited}`
  if (ports.length === 0) return `slow start: ${waited} it runs, but does not listen on a port`
  if (last.startsWith('nothing listens')) return `${last} ${waited}`
  if (ports.includes(placeOf(address).port)) return `slow start: ${waited} it listens, but does not answer: ${last}`
  return `it listens on port ${ports.join(' and ')}, not at ${address}`
}

/** What a server speaks that does not answer HTTP/1.1 in clear. Undefined if that is not known. */
async function otherProtocol(address: string, error: string): Promise<string | undefined> {
  if (error.startsWith('Parse Error')) return 'it listens, but does not speak HTTP/1.1'
  return (await speaksTls(address)) ? 'it listens, but speaks TLS, and only HTTP in clear is asked' : undefined
}

async function speaksTls(address: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  // Nothing is sent, so it does not matter who answers.
  const socket = connect({ ...placeOf(address), rejectUnauthorized: false, timeout: 2000 })
  socket.once('secureConnect', () => resolve(true))
  socket.once('timeout', () => resolve(false))
  socket.once('error', () => resolve(false))
  return await promise.finally(() => socket.destroy())
}
