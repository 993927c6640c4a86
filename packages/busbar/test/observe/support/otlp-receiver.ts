/** A collector of OTLP, over HTTP, as far as tests need one. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { decode, type Decoded, metricsForm, tracesForm } from './protobuf.ts'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Decoded
}

export class OtlpReceiver implements AsyncDisposable {
  readonly requests: Received[] = []
  /** What it answers. Undefined: nothing, so that requests hang. */
  status: number | undefined = 200
  readonly #server = createServer()
  #changed = Promise.withResolvers<void>()

  static async open(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver()
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  private constructor() {
    this.#server.on('request', (request, response) => void this.#answer(request, response))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async until<T>(read: () => T | undefined): Promise<T> {
    for (;;) {
      const found = read()
      if (found !== undefined) return found
      await this.#changed.promise
    }
  }

  get spans(): readonly ReceivedSpan[] {
    return this.#all('/v1/traces', 'resourceSpans', 'scopeSpans', 'spans').map(({ service, resource, one }) => ({
      service,
      resource,
      name: one['name'] as string,
      trace: hex(one['traceId']),
      id: hex(one['spanId']),
      parent: hex(one['parentSpanId']),
      state: (one['state'] ?? '') as string,
      kind: one['kind'] as number,
      failed: (one['status'] as Decoded | undefined)?.['code'] === 2,
      attributes: attributesOf(one),
    }))
  }

  /** The points of a metric, all that have arrived. */
  points(name: string): readonly ReceivedPoint[] {
    const metrics = this.#all('/v1/metrics', 'resourceMetrics', 'scopeMetrics', 'metrics')
    return metrics
      .filter(({ one }) => one['name'] === name)
      .flatMap(({ service, one }) => {
        const type = ['sum', 'gauge', 'histogram'].find((key) => key in one)!
        const points = ((one[type] as Decoded)['dataPoints'] ?? []) as Decoded[]
        const { unit = '' } = one as { unit?: string }
        const isMonotonic = (one[type] as Decoded)['isMonotonic'] === 1
        return points.map((point) => ({ service, type, unit, isMonotonic, point, labels: attributesOf(point) }))
      })
  }

  /** The names of all metrics that have arrived. */
  get names(): ReadonlySet<unknown> {
    const metrics = this.#all('/v1/metrics', 'resourceMetrics', 'scopeMetrics', 'metrics')
    return new Set(metrics.map(({ one }) => one['name']))
  }

  receive(path: string, headers: IncomingHttpHeaders, bytes: Buffer): void {
    this.requests.push({ path, headers, body: decode(bytes, path.endsWith('/metrics') ? metricsForm : tracesForm) })
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: path = '', headers } = request
    const raw = await buffer(request)
    const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw
    this.receive(path, headers, bytes)
    if (this.status !== undefined) response.writeHead(this.status, { 'content-type': 'application/x-protobuf' }).end()
  }

  #all(
    path: string,
    resources: string,
    scopes: string,
    items: string,
  ): { service: unknown; resource: Readonly<Record<string, unknown>>; one: Decoded }[] {
    const listOf = (from: Decoded, key: string): Decoded[] => (from[key] ?? []) as Decoded[]
    return this.requests
      .filter((request) => request.path.endsWith(path))
      .flatMap(({ body }) => listOf(body, resources))
      .flatMap((resource) => {
        const attributes = attributesOf((resource['resource'] ?? {}) as Decoded)
        const service = attributes['service.name']
        return listOf(resource, scopes)
          .flatMap((scope) => listOf(scope, items))
          .map((one) => ({ service, resource: attributes, one }))
      })
  }
}

export interface ReceivedSpan {
  readonly service: unknown
  /** The attributes of its resource. */
  readonly resource: Readonly<Record<string, unknown>>
  readonly name: string
  readonly trace: string
  readonly id: string
  readonly parent: string
  /** `tracestate`. */
  readonly state: string
  readonly kind: number
  readonly failed: boolean
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface ReceivedPoint {
  readonly service: unknown
  readonly type: string
  readonly unit: string
  readonly isMonotonic: boolean
  readonly point: Decoded
  readonly labels: Readonly<Record<string, unknown>>
}

function attributesOf(one: Decoded): Record<string, unknown> {
  const pairs = (one['attributes'] ?? []) as { key: string; value: Decoded }[]
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]))
}

function hex(bytes: unknown): string {
  return bytes === undefined ? '' : Buffer.from(bytes as Uint8Array).toString('hex')
}
