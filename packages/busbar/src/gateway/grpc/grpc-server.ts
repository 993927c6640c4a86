import type { Socket } from 'node:net'
import type { App } from '../../config/app.ts'
import type { ProtoService } from '../../config/contracts/load-contracts.ts'
import { BusbarError } from '../../contract/errors.ts'
import { toTrailers } from '../../contract/grpc/status-details.ts'
import { descriptorBytes, toDescriptor, wellKnownFiles } from '../../contract/protobuf/descriptors.ts'
import { fullServiceName } from '../../contract/protobuf/model.ts'
import type { TypedMesh } from '../../mesh/typed/mesh-transport.ts'
import type { StopTimes } from '../../shared/time/stop-times.ts'
import type { GrpcCarrier, GrpcPeer } from '../../shared/entrance/grpc-carrier.ts'
import { clientCertificateField, clientCertificateOf } from '../tls/client-certificate.ts'
import { appMethods, reachable } from './app-methods.ts'
import type { CallLimits } from './call-parts.ts'
import { GrpcCall } from './grpc-call.ts'
import type { GrpcMethod } from './grpc-method.ts'
import { Http2Listener } from './http2-listener.ts'
import { healthDescriptor, healthMethods, healthService } from './own/health.ts'
import { reflectionDescriptor } from './own/reflection-descriptor.ts'
import { reflectionMethods, reflectionServices } from './own/reflection.ts'
import { isFault, readHead, type RequestHead } from './request-head.ts'

export interface GrpcParts {
  readonly app: App
  readonly services: readonly ProtoService[]
  readonly mesh: TypedMesh
  readonly onCount: (by: 1 | -1) => void
}

/** Answers gRPC at the gateway's port: the app's typed services, health and reflection. */
export class GrpcServer {
  readonly #methods: ReadonlyMap<string, GrpcMethod>
  readonly #limits: CallLimits
  readonly #listener: Http2Listener
  readonly #calls = new Set<GrpcCall>()
  readonly #onCount: GrpcParts['onCount']
  /** The native entrance gives the same headers to calls whose heads are the same. */
  #last: KnownCall | undefined
  #isStopping = false

  constructor(parts: GrpcParts) {
    const { maxInputSize, maxBodySize, requestTimeout, responseTimeout } = parts.app.limits
    this.#limits = { maxMessage: Math.min(maxInputSize, maxBodySize), requestTimeout, responseTimeout }
    this.#methods = this.#allMethods(parts)
    this.#onCount = parts.onCount
    this.#listener = new Http2Listener({
      limits: parts.app.limits,
      onStream: (carrier) => this.serve(carrier),
    })
  }

  get inFlight(): number {
    return this.#calls.size
  }

  accept(socket: Socket): void {
    this.#listener.accept(socket)
  }

  /** The worker is about to end. Ends the calls in flight, and the connections. */
  fail(error: BusbarError): void {
    for (const call of this.#calls) call.fail(error)
    this.#listener.abandon()
  }

  stop(times: StopTimes): Promise<void> {
    this.#isStopping = true
    return this.#listener.stop(times)
  }

  destroy(): void {
    this.#listener.destroy()
  }

  #allMethods({ app, services, mesh }: GrpcParts): Map<string, GrpcMethod> {
    const offered = reachable(services, app)
    const names = new Map(offered.map(({ name, file }) => [fullServiceName(file), name]))
    const servesNow = (service: string): boolean | undefined => {
      if (service === '') return !this.#isStopping && [...names.values()].every((name) => mesh.router.serves(name))
      const name = names.get(service)
      return name === undefined ? undefined : !this.#isStopping && mesh.router.serves(name)
    }
    const methods = new Map([...appMethods(services, app, mesh), ...healthMethods(servesNow)])
    if (app.gateway.grpc?.reflection === false) return methods
    const files = [
      ...offered.map(({ file }) => toDescriptor(file)),
      ...wellKnownFiles.values(),
      healthDescriptor,
      reflectionDescriptor('v1'),
      reflectionDescriptor('v1alpha'),
    ]
    // Encoded once here, so that a descriptor that protobuf refuses ends the start.
    for (const file of files) descriptorBytes(file)
    const listed = [...names.keys(), healthService, ...reflectionServices]
    return new Map([...methods, ...reflectionMethods(files, listed)])
  }

  /** A stream of HTTP/2 that begins now. */
  serve(carrier: GrpcCarrier): void {
    const { headers, peer } = carrier
    const last = this.#last
    if (last?.headers === headers && isLike(last.peer, peer)) return this.#begin(carrier, last.method, last.head)
    const { 'content-type': type, ':path': path = '' } = headers
    if (type === undefined || !grpcType.test(type))
      return carrier.refuse(415, 'This gateway serves gRPC over HTTP/2. Use HTTP/1.1 for everything else.\n')
    if (headers[':method'] !== 'POST') return carrier.refuse(405, 'gRPC uses POST.\n')
    const method = this.#methods.get(path)
    if (method === undefined) return reject(carrier, unknown(path))
    if (method.needsClientCertificate && clientCertificateOf(peer) === undefined)
      return reject(carrier, needsCertificate(method))
    const head = readHead(headers, trustedFields(peer, headers[':authority']))
    if (isFault(head)) {
      const error = new BusbarError(head.code, head)
      method.refused?.(error, undefined)
      return reject(carrier, error, head.fields)
    }
    this.#last = { headers, peer, method, head }
    this.#begin(carrier, method, head)
  }

  #begin(carrier: GrpcCarrier, method: GrpcMethod, head: RequestHead): void {
    this.#onCount(1)
    const onEnd = (refused?: BusbarError<string>): void => {
      this.#onCount(-1)
      this.#calls.delete(call)
      if (refused !== undefined) method.refused?.(refused, head.trace)
    }
    const call = new GrpcCall({ carrier, method, head, limits: this.#limits, onEnd })
    this.#calls.add(call)
    carrier.attach(call)
    call.start()
  }
}

interface KnownCall {
  readonly headers: GrpcCarrier['headers']
  readonly peer: GrpcPeer
  readonly method: GrpcMethod
  readonly head: RequestHead
}

/** Whether they are the same for a head. Those with a certificate are not compared. */
function isLike(one: GrpcPeer, other: GrpcPeer): boolean {
  return (
    one.remoteAddress === other.remoteAddress &&
    one.encrypted === other.encrypted &&
    one.authorized !== true &&
    other.authorized !== true
  )
}

const grpcType = /^application\/grpc(?:\+proto)?(?:;|$)/

function trustedFields(peer: GrpcPeer, authority: string | undefined): Record<string, string> {
  const certificate = clientCertificateOf(peer)
  return {
    'x-forwarded-for': peer.remoteAddress ?? 'unknown',
    'x-forwarded-proto': peer.encrypted === true ? 'https' : 'http',
    ...(authority !== undefined && { 'x-forwarded-host': authority }),
    ...(certificate !== undefined && { [clientCertificateField]: certificate }),
  }
}

function reject(carrier: GrpcCarrier, error: BusbarError, fields: Readonly<Record<string, string>> = {}): void {
  carrier.finish({ ...fields, ...toTrailers(error) })
}

function unknown(path: string): BusbarError {
  const message = `there is no method ${JSON.stringify(path.slice(0, 128))} in gRPC`
  return new BusbarError('METHOD_UNKNOWN', { message, data: { nearest: [] } })
}

function needsCertificate({ service }: GrpcMethod): BusbarError {
  const message = `service '${service}' needs a connection over TLS with a certificate of the client`
  return new BusbarError('CLIENT_CERTIFICATE_MISSING', { message, service })
}
