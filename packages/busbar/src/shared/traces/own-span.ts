/** A span that code of a service makes by OpenTelemetry's API. */
export interface OwnSpanRecord {
  /** 32 and 16 hexadecimal digits. */
  readonly trace: string
  readonly id: string
  /** Undefined: it begins its trace. */
  readonly parent: string | undefined
  /** As of a `SpanRecord`. */
  readonly tracestate?: string | undefined
  readonly service: string
  readonly name: string
  /** The number of OpenTelemetry's `SpanKind`. */
  readonly kind: number
  /** The library that made it. */
  readonly scope: string
  readonly version: string | undefined
  /** Milliseconds since 1970, with fractions. */
  readonly start: number
  readonly duration: number
  /** The number of OpenTelemetry's `SpanStatusCode`: 2 is an error. */
  readonly status: number
  readonly message: string | undefined
  readonly attributes: OwnAttributes
  readonly events: readonly OwnEvent[]
  readonly links: readonly OwnLink[]
  /** Beyond the limits. */
  readonly dropped: { readonly attributes: number; readonly events: number; readonly links: number }
}

export type OwnAttribute = string | number | boolean | readonly (string | number | boolean | null | undefined)[]
export type OwnAttributes = Readonly<Record<string, OwnAttribute>>

export interface OwnEvent {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly time: number
  readonly attributes: OwnAttributes
}

export interface OwnLink {
  readonly trace: string
  readonly id: string
  readonly attributes: OwnAttributes
}

/** As OpenTelemetry's SDK limits them by default. */
export const ownSpanLimits = { attributes: 128, events: 128, links: 128 }
/** Characters of a text. The SDK has no limit. */
export const maxOwnText = 4096
