/** What the admin API answers, by the schemas of its operations. */
import type { AppStatus } from 'busbar'
import type { AdminAnswers } from '../../../busbar/src/supervisor/admin/operations/answers.ts'

export type { AppStatus }
export type Worker = AppStatus['workers'][number]
export type Instance = AppStatus['instances'][number]
export type Edge = AppStatus['edges'][number]

/** The event `status` of `/live`. */
export type StatusEvent = AdminAnswers['followApp']['status']
/** The event `log`. */
export type LogEvent = AdminAnswers['followApp']['log']
/** New calls of an edge, by their latency. `le`: milliseconds; null: longer than all others. */
export type Bucket = StatusEvent['latencies'][number]['buckets'][number]

export type Description = AdminAnswers['describeApp']
export type ServiceDescription = Description['services'][number]

export type TraceList = AdminAnswers['listTraces']
export type TraceSummary = TraceList['traces'][number]
export type Trace = AdminAnswers['getTrace']
export type Hop = Trace['calls'][number]
/** A span that code of a service has made. */
export type OwnSpan = Trace['own'][number]

export type Change = AdminAnswers['reloadApp']

export type ReportList = AdminAnswers['listReports']

/** A result of the lab, as far as the page reads it. The lab's own schema describes all of it. */
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
