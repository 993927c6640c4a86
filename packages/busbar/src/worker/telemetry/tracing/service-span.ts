import type {
  Attributes,
  AttributeValue,
  Exception,
  Link,
  Span,
  SpanContext,
  SpanStatus,
  TimeInput,
} from '@opentelemetry/api'
import {
  maxOwnText,
  type OwnAttribute,
  type OwnEvent,
  type OwnLink,
  type OwnSpanRecord,
  ownSpanLimits,
} from '../../../shared/traces/own-span.ts'

type Begun = Pick<OwnSpanRecord, 'trace' | 'id' | 'parent' | 'tracestate' | 'service' | 'kind' | 'scope' | 'version'>

export interface ServiceSpanParts {
  readonly begun: Begun
  readonly name: string
  readonly context: SpanContext
  readonly startTime: TimeInput | undefined
  readonly add: (span: OwnSpanRecord) => void
}

/** A recorded span of a service, within limits. What comes after its end is ignored. */
export class ServiceSpan implements Span {
  readonly #parts: ServiceSpanParts
  readonly #start: number
  /** The duration comes from this clock: the wall clock may be set while the span runs. */
  readonly #began = performance.now()
  readonly #attributes: Record<string, OwnAttribute> = {}
  readonly #events: OwnEvent[] = []
  readonly #links: OwnLink[] = []
  readonly #dropped = { attributes: 0, events: 0, links: 0 }
  #name: string
  #status: { readonly code: number; readonly message?: string } = { code: 0 }
  #isOver = false

  constructor(parts: ServiceSpanParts) {
    this.#parts = parts
    this.#name = cut(parts.name)
    this.#start = toMilliseconds(parts.startTime) ?? performance.timeOrigin + this.#began
  }

  spanContext(): SpanContext {
    return this.#parts.context
  }

  setAttribute(key: string, value: AttributeValue): this {
    if (this.#isOver || typeof key !== 'string' || key === '') return this
    const known = Object.hasOwn(this.#attributes, key)
    if (!known && Object.keys(this.#attributes).length >= ownSpanLimits.attributes) this.#dropped.attributes++
    else setOwn(this.#attributes, key, value)
    return this
  }

  setAttributes(attributes: Attributes): this {
    for (const [key, value] of Object.entries(attributes ?? {})) if (value !== undefined) this.setAttribute(key, value)
    return this
  }

  addEvent(name: string, attributes?: Attributes | TimeInput, time?: TimeInput): this {
    if (this.#isOver) return this
    if (this.#events.length >= ownSpanLimits.events) {
      this.#dropped.events++
      return this
    }
    const given = isTime(attributes) ? undefined : attributes
    const at = toMilliseconds(isTime(attributes) ? attributes : time) ?? performance.timeOrigin + performance.now()
    this.#events.push({ name: cut(name), time: at, attributes: attributesOf(given) })
    return this
  }

  addLink({ context, attributes }: Link): this {
    if (this.#isOver) return this
    if (this.#links.length >= ownSpanLimits.links) this.#dropped.links++
    else this.#links.push({ trace: context.traceId, id: context.spanId, attributes: attributesOf(attributes) })
    return this
  }

  addLinks(links: Link[]): this {
    for (const link of links) this.addLink(link)
    return this
  }

  setStatus({ code, message }: SpanStatus): this {
    if (this.#isOver) return this
    this.#status = message === undefined ? { code } : { code, message: cut(message) }
    return this
  }

  updateName(name: string): this {
    if (!this.#isOver) this.#name = cut(name)
    return this
  }

  isRecording(): boolean {
    return !this.#isOver
  }

  recordException(exception: Exception, time?: TimeInput): void {
    const { name, message, stack, code } = (typeof exception === 'string' ? { message: exception } : exception) as {
      name?: string
      message?: string
      stack?: string
      code?: string | number
    }
    const type = code === undefined ? name : String(code)
    const attributes = { 'exception.type': type, 'exception.message': message, 'exception.stacktrace': stack }
    this.addEvent('exception', attributes, time)
  }

  end(endTime?: TimeInput): void {
    if (this.#isOver) return
    this.#isOver = true
    const given = toMilliseconds(endTime)
    const duration = given === undefined ? this.#elapsed() : given - this.#start
    this.#parts.add({
      ...this.#parts.begun,
      name: this.#name,
      start: this.#start,
      duration: Math.max(0, duration),
      status: this.#status.code,
      message: this.#status.message,
      attributes: this.#attributes,
      events: this.#events,
      links: this.#links,
      dropped: this.#dropped,
    })
  }

  /** A start that was given may be long ago. */
  #elapsed(): number {
    const now = performance.now()
    return this.#parts.startTime === undefined ? now - this.#began : performance.timeOrigin + now - this.#start
  }
}

function attributesOf(given: Attributes | undefined): Record<string, OwnAttribute> {
  const attributes: Record<string, OwnAttribute> = {}
  for (const [key, value] of Object.entries(given ?? {}).slice(0, ownSpanLimits.attributes))
    if (value !== undefined) setOwn(attributes, key, value)
  return attributes
}

/** Values of other types are left out, as in the SDK: the supervisor gets only plain ones. */
function setOwn(attributes: Record<string, OwnAttribute>, key: string, value: AttributeValue): void {
  const kept = Array.isArray(value)
    ? value.slice(0, ownSpanLimits.attributes).filter(isPlain).map(cutValue)
    : isPlain(value)
      ? cutValue(value)
      : undefined
  // `__proto__` is a name like others.
  if (kept !== undefined)
    Object.defineProperty(attributes, cut(key), { value: kept, enumerable: true, configurable: true, writable: true })
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function cutValue(value: string | number | boolean): string | number | boolean {
  return typeof value === 'string' ? cut(value) : value
}

/** Callers in JavaScript may pass anything. */
function cut(given: unknown): string {
  const text = String(given)
  return text.length <= maxOwnText ? text : text.slice(0, maxOwnText)
}

function isTime(value: Attributes | TimeInput | undefined): value is TimeInput {
  return typeof value === 'number' || value instanceof Date || Array.isArray(value)
}

/**
 * Milliseconds since 1970. A number below the start of this process is one of `performance.now()`,
 * as the SDK reads it.
 */
function toMilliseconds(time: TimeInput | undefined): number | undefined {
  if (time === undefined || time === null) return undefined
  if (Array.isArray(time)) return time[0] * 1000 + time[1] / 1e6
  if (typeof time !== 'number') return time.getTime()
  return time < performance.timeOrigin ? performance.timeOrigin + time : time
}
