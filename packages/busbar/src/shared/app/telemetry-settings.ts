export interface TraceSettings {
  /** The share of new traces that are recorded, from 0 to 1. */
  readonly sample: number
  /** How many the supervisor keeps. */
  readonly keep: number
  /** Milliseconds. Slower calls are recorded always. Undefined: no limit. */
  readonly slow?: number | undefined
}

export interface OtlpSettings {
  /** Without a slash at its end. Undefined: that of the environment. */
  readonly url: string | undefined
  readonly protocol: 'http/protobuf' | 'grpc'
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds between two exports of the metrics. Undefined: that of the environment. */
  readonly interval: number | undefined
  /** The files of the exporters. Undefined: this signal is not exported. */
  readonly metrics: string | undefined
  readonly traces: string | undefined
}
