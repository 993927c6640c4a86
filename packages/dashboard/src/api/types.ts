/** What the admin API answers, as far as the page reads it. */
import type { AppStatus } from 'busbar'

export type { AppStatus }
export type Worker = AppStatus['workers'][number]
export type Instance = AppStatus['instances'][number]
export type Edge = AppStatus['edges'][number]

export interface Bucket {
  /** Milliseconds; null: longer than all others. */
  readonly le: number | null
  readonly count: number
}

/** The event `status` of `/live`. */
export interface StatusEvent {
  readonly at: number
  readonly status: AppStatus
  /** New calls, by the index of the edge in the status. */
  readonly latencies: readonly { readonly edge: number; readonly buckets: readonly Bucket[] }[]
  readonly trace: string | null
}

/** The event `log`. */
export interface LogEvent {
  readonly lines: readonly string[]
  readonly dropped: number
}

export interface Description {
  readonly name: string
  readonly root: string
  readonly configFile: string | null
  readonly process: { readonly pid: number; readonly node: string }
  readonly command: { readonly mode: string } | null
  readonly workers: number
  readonly addresses: readonly { readonly url: string; readonly serves: string }[]
  readonly routes: readonly { readonly host: string | null; readonly prefix: string; readonly service: string }[]
  readonly services: readonly ServiceDescription[]
  /** The path of the API reference at the gateway. */
  readonly reference?: string | null
}

export interface ServiceDescription {
  readonly name: string
  readonly kind: 'program' | 'typed' | 'command'
  readonly run: 'shared' | 'thread' | 'process'
  readonly group: string | null
  readonly instances: number
  readonly concurrency: number | null
  readonly needs: readonly string[]
  readonly entry: string
}

export interface TraceSummary {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly start: number
  readonly duration: number
  readonly first: {
    readonly caller: string | null
    readonly service: string
    readonly method: string
    readonly path: string | null
    readonly status: number | null
  }
  readonly hops: number
  readonly failed: number
  readonly services: readonly string[]
}

export interface Trace extends TraceSummary {
  readonly calls: readonly Hop[]
  readonly dropped: number
}

export interface Hop {
  readonly id: string
  readonly parent: string | null
  readonly depth: number
  readonly caller: string | null
  readonly service: string
  readonly protocol: 'http' | 'rpc'
  readonly method: string
  readonly path: string | null
  readonly transport: string | null
  readonly workers: readonly string[]
  /** Milliseconds since the start of the trace. */
  readonly start: number
  readonly duration: number
  readonly queue: number
  readonly wire: number | null
  readonly run: number | null
  readonly sent: number
  readonly received: number
  readonly status: number | null
  readonly attempts: number
}

export interface Change {
  readonly generation: number
  readonly replaced: number
  readonly added: number
  readonly removed: number
  readonly kept: number
  readonly took: number
}

export interface ReportSummary {
  readonly file: string
  readonly scenario: string
  readonly question: string
  readonly startedAt: string
  readonly arms: number
}

export interface Report {
  readonly scenario: string
  readonly question: string
  readonly command: string
  readonly startedAt: string
  readonly seconds: number
  readonly rounds: number
  readonly machine: { readonly platform: string; readonly cpu: string; readonly cores: number; readonly node: string }
  readonly notes: readonly string[]
  readonly arms: readonly Arm[]
}

export interface Arm {
  readonly name: string
  readonly title: string
  readonly control: boolean
  readonly valid: boolean
  readonly invalidBecause: readonly string[]
  readonly throughput: { readonly perSecond: number | null; readonly perCpuSecond: number | null }
  readonly latency: { readonly p50: number; readonly p99: number } | null
  readonly server: { readonly pss: number | null; readonly cores: number | null; readonly gc: number | null }
  readonly unanswered: number
}
