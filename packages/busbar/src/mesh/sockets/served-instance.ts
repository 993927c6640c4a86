import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { BusbarError } from '../../contract/errors.ts'
import type { CallId } from '../../shared/control.ts'
import type { LocalEndpoint } from '../endpoint.ts'
import { isFailed } from '../failed-response.ts'
import { hopLimitProblem } from '../hops.ts'
import type { HttpMesh } from '../mesh.ts'
import { MeasuredCall } from '../meter.ts'
import { exhaustedProblem, type Problem } from '../problem.ts'
import { runInScope, type Scope } from '../scope.ts'
import type { Begun, Gate } from '../balance/gate.ts'
import { answerProblem } from './answer-problem.ts'
import { emitIn } from './emit-in.ts'
import { takeHops } from './hops-header.ts'
import type { Opening } from './opening.ts'
import type { ArrivedRequest, Instance } from './private-listener.ts'

interface MutableScope extends Scope {
  hops: number
}

interface OpenConnection {
  /** What its requests' bodies and an upgrade's messages cause counts like the last request. */
  readonly scope: MutableScope
  readonly caller: string | undefined
  readonly isGone: (() => boolean) | undefined
  /** What is told while it computes. */
  readonly begun: Begun
}

/** Whoever computes here cannot give up here. */
const here: CallId = { link: undefined, number: 0 }

/** Has the instances of this thread serve what comes to their private sockets. */
export function servePrivateSockets(mesh: HttpMesh): Disposable {
  return mesh.router.watch((endpoint) => endpoint.listener?.serve(new ServedInstance(mesh, endpoint)))
}

/** What the mesh does with each request that comes to an instance by its private socket. */
class ServedInstance implements Instance {
  readonly #mesh: HttpMesh
  readonly #endpoint: LocalEndpoint
  readonly #connections = new WeakMap<Socket, OpenConnection>()

  constructor(mesh: HttpMesh, endpoint: LocalEndpoint) {
    this.#mesh = mesh
    this.#endpoint = endpoint
  }

  connected(socket: Socket, { hops, caller, call = here, isGone }: Opening, next: () => void): void {
    if (this.#endpoint.state === 'stopped') return void socket.destroy()
    const scope: MutableScope = { service: this.#endpoint.service, hops }
    this.#connections.set(socket, { scope, caller, isGone, begun: { call, deadline: undefined } })
    runInScope(scope, next)
  }

  requested(arrived: ArrivedRequest): boolean {
    const { request, response, socket } = arrived
    const { maxHops, gates } = this.#mesh
    const { service } = this.#endpoint
    const connection = this.#connections.get(socket)
    if (connection === undefined) return arrived.next()
    const hops = takeHops(request) ?? connection.scope.hops
    connection.scope.hops = hops
    if (hops > maxHops) {
      refuse(hopLimitProblem(service, maxHops), arrived)
      return true
    }
    const gate = gates?.get(service)
    // An upgrade is no request that would have an end.
    if (gate === undefined || response === undefined) this.#serve(arrived, connection)
    else this.#passGate(gate, arrived, response, connection)
    return true
  }

  #serve({ socket, response, next }: ArrivedRequest, { scope, caller }: OpenConnection): void {
    const { service, count, server } = this.#endpoint
    const measured = this.#measure(caller)
    count?.began()
    const own: Scope = { service, hops: scope.hops }
    if (response === undefined) {
      // Its messages are the program's, and count like the request.
      emitIn(socket, (callback) => runInScope(own, callback))
      runInScope(own, next)
      count?.left(false)
      return
    }
    response.once('close', () => {
      count?.left(isFailed(response))
      measured?.end()
      // A server that closes while it answers would wait for as long as the caller keeps the connection for a next request.
      if (!server.listening) socket.destroySoon()
    })
    runInScope(own, next)
  }

  #measure(caller: string | undefined): MeasuredCall | undefined {
    const { meter } = this.#mesh
    const weight = caller === undefined ? 0 : (meter?.next() ?? 0)
    return weight === 0 ? undefined : new MeasuredCall(meter!, caller, this.#endpoint.service, weight)
  }

  #passGate(gate: Gate, arrived: ArrivedRequest, response: ServerResponse, connection: OpenConnection): void {
    const { socket } = arrived
    const { begun } = connection
    const { service } = this.#endpoint
    const gone = new AbortController()
    const close = (): void => gone.abort(new BusbarError('CALL_ABORTED', { message: 'the caller hung up', service }))
    socket.once('close', close)
    const serve = (): void => {
      // A request that nobody waits for any more may compute for ever.
      if (socket.destroyed || connection.isGone?.() === true) return gate.leave()
      gate.begins(begun)
      response.once('close', () => {
        gate.ends(begun)
        gate.leave()
      })
      this.#serve(arrived, connection)
    }
    const shed = (error: unknown): void => {
      if (!socket.destroyed) refuse(exhaustedProblem(BusbarError.from(error), service), arrived)
    }
    void gate
      .enter(undefined, gone.signal)
      .then(serve, shed)
      .finally(() => socket.off('close', close))
  }
}

/** Answers in the program's place. What is still to come of the request is nobody's. */
function refuse(problem: Problem, { request, response, socket }: ArrivedRequest): void {
  if (response === undefined) return answerProblem(problem, request, socket)
  request.resume()
  response.writeHead(problem.status, problem.statusText, problem.headers).end(problem.body)
}
