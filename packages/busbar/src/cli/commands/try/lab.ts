/**
 * What `busbar try` and the lab give each other. The lab depends on Busbar, so these are not its
 * types (`packages/lab/src/try-app/tried-app.ts`). A test of the lab ties the two.
 */
import type { BesideToday } from '../../../adopt/trying/beside-today.ts'
import type { TodayService } from '../../../adopt/trying/today.ts'

export interface TryLab {
  readonly tryCommand: (
    prepare: (folder: string, learned: LearnedByLab) => Promise<TriedApp>,
    stderr: NodeJS.WritableStream,
  ) => Promise<{ readonly tried: Tried | null; readonly interrupted: boolean }>
  readonly readRequests: (file: string) => Promise<TriedRequest[]>
}

export interface LearnedByLab {
  readonly ports: Readonly<Record<string, number>>
  readonly silent: readonly string[]
  readonly problems: readonly string[]
}

export interface TriedApp {
  readonly name: string
  readonly today: readonly TriedService[]
  readonly notToday?: string
  /** With the config by which Busbar runs it. */
  readonly folder: string
  readonly entry: string
  readonly exposed: Readonly<Record<string, number>>
  readonly beside: BesideToday<{ readonly location: string }>
  readonly requests: readonly TriedRequest[]
  readonly budgetMs: number
  readonly connections: number
}

export interface TriedService extends TodayService {
  /** Services that listen before it starts. */
  readonly needs: readonly string[]
}

export interface TriedRequest {
  readonly service?: string
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body?: string
  readonly weight: number
}

export interface Tried {
  readonly arms: readonly TriedArm[]
  readonly notes: readonly string[]
  readonly generator: 'busbar-load' | 'autocannon' | null
  readonly measured: number
  readonly foundPorts: Readonly<Record<string, number>>
}

export interface TriedArm {
  readonly name: string
  readonly title: string
  readonly problem: string | null
  readonly answers: readonly ComparedRequest[]
  readonly figures: Figures | null
}

export interface ComparedRequest {
  readonly service: string
  readonly method: string
  readonly path: string
  readonly status: number | null
  readonly differences: readonly {
    readonly part: string
    readonly today: string | null
    readonly here: string | null
  }[]
  readonly ignored: readonly { readonly part: string; readonly why: string }[]
}

export interface Figures {
  readonly perCpuSecond: number | null
  readonly perSecond: number | null
  readonly p99: number | null
  readonly memory: number | null
  readonly comparison: {
    readonly ratio: number
    readonly low: number
    readonly high: number
    readonly confidence: number
    readonly verdict: 'faster' | 'slower' | 'no difference' | 'unclear' | 'invalid'
  } | null
  /** For an unclear comparison: seconds of measuring that it would take. Null if unknown. */
  readonly secondsNeeded: number | null
  readonly invalidBecause: readonly string[]
}
