import { setTimeout as sleep } from 'node:timers/promises'
import { type App, gatewayOpensConnections, isRawEntry } from '../../config/app.ts'
import { BusbarError, restoreError } from '../../contract/errors.ts'
import type { EntranceStats } from '../../observe/app-status.ts'
import { configuredTemplates, type ServiceTemplates } from '../../shared/path-templates/known-templates.ts'
import type { ListenerSpec, TlsMaterial } from '../../shared/control-messages.ts'
import {
  type DirectEdge,
  type DirectInstance,
  type EntranceAccess,
  type EntranceLibrary,
  type EntranceLimits,
  type NativeEntrance,
  queueTimeBounds,
} from '../../shared/entrance/entrance.ts'
import { portFailure } from '../../shared/listeners/open-port.ts'
import { descriptorsLeft } from '../../shared/process/descriptors.ts'
import type { Timing } from '../timing.ts'
import { planDirect, planTemplates } from './direct-services.ts'

/**
 * The native entrance of the gateway: it accepts the connections and chooses a worker for each
 * request, in threads of its own. The workers register with it (`worker/entrance-registration.ts`).
 */
export class GatewayEntrance {
  readonly access: EntranceAccess
  readonly #native: NativeEntrance
  readonly #timing: Timing
  #isSecure = false
  #instances: readonly DirectInstance[] = []
  /** Path templates, of the config and of workers. */
  #configured: readonly ServiceTemplates[] = []
  #found: readonly ServiceTemplates[] = []

  private constructor(file: string, native: NativeEntrance, timing: Timing) {
    this.access = { file, id: native.id }
    this.#native = native
    this.#timing = timing
  }

  /**
   * Throws ENTRANCE_UNAVAILABLE, and TLS_FILE_INVALID. Returns a warning if the binary is not for
   * this version of Busbar: then the portable gateway serves.
   */
  static open(
    app: App,
    find: (() => EntranceLibrary) | undefined,
    timing: Timing,
    tls: TlsMaterial | undefined,
  ): GatewayEntrance | string {
    if (find === undefined)
      throw new BusbarError('ENTRANCE_UNAVAILABLE', {
        message: "gateway.entrance is 'native', and this start of the app cannot load the native entrance",
        hint: "Start it with `busbar start` or `startApp`, or write entrance: 'portable'.",
      })
    const library = find()
    if (library.mismatch !== undefined)
      return `${library.mismatch}: the portable gateway serves. Install the version that belongs to it; in the repository, run npm run build`
    const opened = new GatewayEntrance(library.file, library.open(entranceLimits(app, timing)), timing)
    opened.#begin(app, tls)
    return opened
  }

  #begin(app: App, tls: TlsMaterial | undefined): void {
    this.route(app)
    if (tls === undefined) return
    try {
      this.setTls(tls)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Throws TLS_FILE_INVALID for a certificate that the entrance cannot use. */
  setTls({ pairs, clientCa, minVersion }: TlsMaterial): void {
    const onlyTls13 = minVersion === 'TLSv1.3'
    try {
      this.#native.setCertificates(pairs, { onlyTls13, ...(clientCa !== undefined && { clientCa }) })
    } catch (cause) {
      throw new BusbarError('TLS_FILE_INVALID', {
        message: `the native entrance cannot use the certificates of gateway.tls: ${(cause as Error).message}`,
        hint: "It takes RSA keys from 2048 bits, ECDSA keys of P-256 and P-384, and Ed25519 keys. Others need entrance: 'portable'.",
        cause,
      })
    }
    this.#isSecure = true
  }

  /** The app's routes, from now on. */
  route(app: App): void {
    const { routes, services, options } = planDirect(app)
    this.#native.setRoutes(routes, services, options)
    this.#native.setInstances(this.#instances)
    this.#configured = configuredTemplates(app.services)
    this.setTemplates(this.#found)
  }

  /** Those in processes and commands that serve now. */
  setInstances(instances: readonly DirectInstance[]): void {
    this.#instances = instances
    this.#native.setInstances(instances)
  }

  /**
   * Resolves when instances that get no more requests have answered those that they had, or after
   * `limit` milliseconds.
   */
  async answered(instances: readonly DirectInstance[], limit: number): Promise<void> {
    const end = performance.now() + limit
    while (performance.now() < end && instances.some((one) => this.#native.requestsAt(one) > 0))
      await sleep(lookInterval)
  }

  /** Those that workers have found. */
  setTemplates(found: readonly ServiceTemplates[]): void {
    this.#found = found
    this.#native.setTemplates(planTemplates([...this.#configured, ...found]))
  }

  /** Returns the spec with the real port. */
  listen(spec: ListenerSpec): ListenerSpec {
    try {
      const isSecure = this.#isSecure && spec.serves.kind === 'gateway'
      return { ...spec, port: this.#native.listen(spec.host, spec.port, isSecure).port }
    } catch (error) {
      // The add-on's messages begin with the code that Node has for the error.
      const [code] = /^E[A-Z]+/.exec((error as Error).message) ?? []
      throw restoreError(portFailure(Object.assign(error as Error, { code }), spec))
    }
  }

  /** False: no worker serves, and none starts at once. Requests get a 503 instead of waiting. */
  expectWorker(isExpected: boolean): void {
    this.#native.expectWorker(isExpected)
  }

  /** Accepts no more. Connections close when they have been idle for a while. */
  drain(): void {
    this.#native.unlisten()
    this.#native.drain(this.#timing.quiet)
  }

  close(): void {
    this.#native.close()
  }

  /** What services in processes and commands got directly, since the last time. */
  takeDirectEdges(): readonly DirectEdge[] {
    return this.#native.takeDirectEdges()
  }

  #queueTimes(): EntranceStats['queueTimes'] {
    const all = this.#native.queueTimes()
    let count = 0
    const buckets = [...queueTimeBounds, null].map((le, at) => ({ le, count: (count += all[at]!) }))
    return { buckets, sum: all.at(-1)! }
  }

  get stats(): EntranceStats {
    const all = this.#native.stats()
    const of = (name: string): number => all[name] ?? 0
    const refusals = Object.entries(all).flatMap(([name, count]) => {
      const [, status, reason] = /^refused_(\d+)_(\w+)$/.exec(name) ?? []
      return reason === undefined ? [] : [{ status: Number(status), reason, count }]
    })
    return {
      connections: of('open'),
      accepted: of('accepted'),
      handshakes: of('handshakes'),
      failedHandshakes: of('failed_handshakes'),
      requests: { http1: of('requests'), http2: of('http2_requests') },
      inFlight: of('in_flight'),
      bytesReceived: of('bytes_in'),
      bytesSent: of('bytes_out'),
      refusals: refusals.sort((one, other) => one.status - other.status || (one.reason < other.reason ? -1 : 1)),
      queueTimes: this.#queueTimes(),
      moved: of('moved'),
      repeated: of('retried'),
      direct: of('direct'),
      floods: of('floods'),
    }
  }
}

/** Milliseconds. */
const lookInterval = 20

/** A head has to fit into the memory of a batch. */
const mostHead = 256 * 1024
const leastHead = 64 * 1024

/** What the gateway adds to its own limit, so that it is first to answer, in milliseconds. */
const answerTime = 2000

/**
 * The gateway in the workers, or the server of a raw entry, has the limits of requests and gives
 * the answers. Those of the entrance are wider, and hold when a worker is blocked.
 */
export function entranceLimits(app: App, { backlog }: Pick<Timing, 'backlog'>): EntranceLimits {
  const { headerTimeout, requestTimeout, keepAliveTimeout } = app.limits
  const descriptors = descriptorsLeft()
  const most = gatewayOpensConnections(app) ? descriptors / 2 : descriptors
  return {
    maxConnections: Math.max(1, Math.min(65_536, Math.floor(most))),
    maxHead: mostHeadOf(app.limits),
    maxFields: 10_000,
    maxBody: Number.MAX_SAFE_INTEGER,
    headTimeout: headerTimeout,
    requestTimeout: requestTimeout === 0 ? 0 : requestTimeout + answerTime,
    idleTimeout: keepAliveTimeout,
    workerTimeout: backlog,
    problems: !isRawEntry(app),
    pinConnections: app.gateway.balance === 'connection',
    grpc: app.gateway.grpc !== undefined,
  }
}

/** The entrance's limit of a head, in bytes. */
export function mostHeadOf({ maxHeaderSize }: Pick<App['limits'], 'maxHeaderSize'>): number {
  return Math.min(mostHead, Math.max(leastHead, 2 * maxHeaderSize))
}
