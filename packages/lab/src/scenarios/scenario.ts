import type { Arm } from '../arm.ts'
import type { LoadRequest } from '../engine/job.ts'
import type { Work } from '../protocol/slice.ts'

/**
 * A question that the lab answers: which arms are compared, with which work. See
 * `docs/guides/measure/lab-scenarios.md`.
 */
export interface Scenario {
  readonly name: string
  readonly question: string
  /** Name of the arm with which all others are compared. */
  readonly baseline: string
  readonly arms: readonly Arm[]
  /** Name of the arm whose second copy shows the noise. Default: the baseline. */
  readonly control?: string
  /** What a quick run without flags measures: few enough cells for three minutes. */
  readonly quick: Quick
  /** Defaults for a run without flags. */
  readonly connections: readonly number[]
  readonly workers: readonly number[]
  /** Parameters of the work, with defaults. */
  readonly parameters?: Parameters
  /** The request, and the expected answer. */
  request(parameters: Parameters): LoadRequest
  /** Other properties of the work. */
  readonly work?: Partial<Work>
  /** Minimum duration of a slice in milliseconds. Default: that of the timing. */
  readonly sliceMs?: number
  /** Alternative work for the same arms, by name. */
  readonly variants?: Readonly<Record<string, Variant>>
  /** What is counted: requests, or runs of a job. Default: requests. */
  readonly unit?: 'request' | 'run'
}

export interface Quick {
  readonly arms: readonly string[]
  readonly connections?: readonly number[]
  readonly workers?: readonly number[]
}

export type Parameters = Readonly<Record<string, number>>

/** Differences from the scenario's own work. */
export interface Variant {
  /** Describes the work, after the question. */
  readonly title: string
  readonly request?: (parameters: Parameters) => LoadRequest
  readonly work?: Partial<Work>
  readonly connections?: readonly number[]
  readonly sliceMs?: number
  /** The same with `--quick`. Default: {@link sliceMs}. */
  readonly quickSliceMs?: number
}

/** Options of a run. Default: those of the scenario. */
export interface Choice {
  readonly arms?: readonly string[]
  readonly workers?: readonly number[]
  readonly connections?: readonly number[]
  readonly quick: boolean
  /** The name of one of the scenario's variants. */
  readonly variant?: string
  readonly parameters?: Parameters
  readonly work?: Partial<Work>
  readonly request?: LoadRequest
}
