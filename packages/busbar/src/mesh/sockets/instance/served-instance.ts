import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { BusbarError } from '../../../contract/errors.ts'
import type { CallId } from '../../../shared/calls/call-id.ts'
import { noWorker } from '../../../shared/metrics/worker-pair.ts'
import { noStatus, type Transport } from '../../../shared/metrics/edge-table.ts'
import { chosenPerRequest } from '../../http/exchange.ts'
import { exhaustedProblem, hopLimitProblem, type ProblemResponse, sendProblem } from '../../http/problem-response.ts'
import type { MeshContext } from '../../mesh-context.ts'
import { type CountedEdge, type Edge, isFailedResponse, outcomeOf } from '../../meter.ts'
import type { LocalEndpoint } from '../../routing/endpoint.ts'
import type { ConcurrencyGate, RunningCall } from '../../routing/limits/concurrency-gate.ts'
import { isFailedSpan } from '../../../shared/traces/span.ts'
import { runInScope, type Scope } from '../../scope.ts'
import { bytesBefore, countBytes, emitInContext, traceRequest } from '../../tracing/traced-request.ts'
import type { TracedCall } from '../../tracing/traced-call.ts'
import { takeHopsHeader } from '../hops-header.ts'
import { type ConnectionPreamble, healthCheckCaller } from './preamble.ts'
import { onUpgradeAnswer } from '../upgrade-answer.ts'
import type { ArrivedRequest, InstanceHandler } from './private-listener.ts'

interface MutableScope extends Scope {
  hops: number
}

interface OpenConnection {
  /**
   * Calls caused by a request's body or an upgrade's messages have the last request's hop count.
   */
  readonly scope: MutableScope
  readonly caller: string | undefined
  /** The worker of the caller. */
  readonly worker: number
  readonly transport: Transport
  readonly isGone: (() => boolean) | undefined
  /** The caller of the last request records the call itself. */
  isTraced: boolean
  /** For the watchdog, while a request runs. */
  readonly running: RunningCall
}

/** A request whose time includes the wait at a gate. */
interface CountedRequest {
  readonly call: TracedCall | undefined
  /** The call itself, if there is one. */
  readonly edge: CountedEdge | undefined
  readonly began: number | undefined
  /** The worker of the caller. */
  readonly caller: number
}

/** For callers in this thread: a blocked thread cannot cancel its own calls. */
const noCall: CallId = { link: undefined, number: 0 }

/** Makes the instances of this thread serve the connections to their private sockets. */
export function servePrivateSockets(mesh: MeshContext): Disposable {
  return mesh.router.watch((endpoint) => endpoint.listener?.serve(new ServedInstance(mesh, endpoint)))
}

/**
 * Handles each request to an instance's private socket: hop limit, concurrency gate, metrics,
 * scope.
 */
class ServedInstance implements InstanceHandler {
  readonly #mesh: MeshContext
  readonly #endpoint: LocalEndpoint
  readonly #connections = new WeakMap<Socket, OpenConnection>()

  constructor(mesh: MeshContext, endpoint: LocalEndpoint) {
    this.#mesh = mesh
    this.#endpoint = endpoint
  }

  connected(socket: Socket, preamble: ConnectionPreamble, next: () => void): void {
    const { hops, caller, worker = noWorker, call = noCall, transport = 'unix', isGone } = preamble
    if (this.#endpoint.state === 'stopped') return void socket.destroy()
    if (caller === undefined) Object.assign(socket, { [chosenPerRequest]: true })
    const scope: MutableScope = { service: this.#endpoint.service, hops }
    this.#connections.set(socket, {
      scope,
      caller,
      worker,
      transport,
      isGone,
      isTraced: false,
      running: { call, deadline: undefined },
    })
    runInScope(scope, next)
  }

  requested(arrived: ArrivedRequest): boolean {
    const { request, response, socket } = arrived
    const { maxHops, gates } = this.#mesh
    const { service } = this.#endpoint
    const connection = this.#connections.get(socket)
    if (connection === undefined) return arrived.next()
    if (connection.caller === healthCheckCaller) return runInScope({ service, hops: 0 }, arrived.next)
    const { hops, isTraced } = takeHopsHeader(request) ?? { hops: connection.scope.hops, isTraced: false }
    connection.scope.hops = hops
    connection.isTraced = isTraced
    if (hops > maxHops) {
      this.#refuse(hopLimitProblem(service, maxHops), arrived, this.#begin(arrived, connection))
      return true
    }
    const gate = gates?.get(service)
    const counted = this.#begin(arrived, connection)
    // An upgrade has no end that would free its slot.
    if (gate === undefined || response === undefined) this.#serve(arrived, connection, counted)
    else this.#passGate(gate, arrived, response, connection, counted)
    return true
  }

  #begin(arrived: ArrivedRequest, connection: OpenConnection): CountedRequest {
    const call = this.#trace(arrived, connection)
    const edge = call ?? this.#edgeOf(arrived, connection)
    return { call, edge, began: edge?.begin(), caller: connection.worker }
  }

  #serve(arrived: ArrivedRequest, connection: OpenConnection, counted: CountedRequest): void {
    const { request, socket, response, next } = arrived
    const { scope } = connection
    const { call, edge, began, caller } = counted
    const { service, count, server, answered } = this.#endpoint
    const timer = count?.countStart()
    const own: Scope = { service, hops: scope.hops, trace: call }
    if (call !== undefined) emitInContext(request, (callback) => runInScope(own, callback))
    const before = call && bytesBefore(request)
    if (response === undefined) {
      // Its messages run in the scope of the request.
      emitInContext(socket, (callback) => runInScope(own, callback))
      onUpgradeAnswer(socket, (status) => {
        count?.countEnd(isFailedSpan({ status }))
        edge?.end(status, began, undefined, caller)
      })
      return void runInScope(own, next)
    }
    response.once('close', () => {
      count?.countEnd(isFailedResponse(response))
      timer?.end()
      if (call !== undefined) countBytes(call, request, response, before!)
      edge?.end(outcomeOf(response), began, undefined, caller)
      answered?.(request)
      // A closing server would wait for as long as the caller keeps the connection alive.
      if (!server.listening) socket.destroySoon()
    })
    runInScope(own, next)
  }

  #trace(arrived: ArrivedRequest, connection: OpenConnection): TracedCall | undefined {
    const { tracer } = this.#mesh
    if (tracer === undefined) return undefined
    const { caller, transport, isTraced } = connection
    // A caller that counts the call itself also records it.
    const part = caller === undefined || isTraced ? 'answer' : 'call'
    const { service } = this.#endpoint
    const { method, url } = arrived.request
    const route = part === 'answer' ? this.#mesh.meter?.templateOf(service, method!, url!) : undefined
    const info = { part, caller, service, route, transport } as const
    return traceRequest(tracer, info, arrived.request, this.#edgeOf(arrived, connection))
  }

  /** Undefined if the caller counts the call itself. */
  #edgeOf({ request }: ArrivedRequest, { caller, transport }: OpenConnection): Edge | undefined {
    if (caller === undefined) return undefined
    return this.#mesh.meter?.http(caller, this.#endpoint.service, request.method!, transport, request.url!)
  }

  #refuse(problem: ProblemResponse, arrived: ArrivedRequest, { edge, began, caller }: CountedRequest): void {
    edge?.end(problem.status, began, noWorker, caller)
    refuse(problem, arrived)
  }

  #passGate(
    gate: ConcurrencyGate,
    arrived: ArrivedRequest,
    response: ServerResponse,
    connection: OpenConnection,
    counted: CountedRequest,
  ): void {
    const { socket } = arrived
    const { running } = connection
    const { service } = this.#endpoint
    const gone = new AbortController()
    const close = (): void => gone.abort(new BusbarError('CALL_ABORTED', { message: 'the caller hung up', service }))
    socket.once('close', close)
    const since = performance.now()
    const endWait = (): void => counted.call?.waited(performance.now() - since)
    const left = (): void => counted.edge?.end(noStatus, counted.began, noWorker, counted.caller)
    const serve = (): void => {
      endWait()
      // Do not start a request without a caller: nothing would end it.
      if (socket.destroyed || connection.isGone?.() === true) {
        left()
        return gate.leave()
      }
      gate.started(running)
      response.once('close', () => {
        gate.finished(running)
        gate.leave()
      })
      this.#serve(arrived, connection, counted)
    }
    const shed = (error: unknown): void => {
      endWait()
      if (socket.destroyed) left()
      else this.#refuse(exhaustedProblem(BusbarError.from(error), service), arrived, counted)
    }
    void gate
      .enter(undefined, gone.signal)
      .then(serve, shed)
      .finally(() => socket.off('close', close))
  }
}

/** Answers instead of the program, and discards the rest of the request. */
function refuse(problem: ProblemResponse, { request, response, socket }: ArrivedRequest): void {
  if (response === undefined) return sendProblem(problem, request, socket)
  request.resume()
  response.writeHead(problem.status, problem.statusText, problem.headers).end(problem.body)
}
