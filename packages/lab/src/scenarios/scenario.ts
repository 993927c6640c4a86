import type { Arm } from '../arm.ts'
import type { LoadRequest } from '../engine/job.ts'
import type { Work } from '../protocol/slice.ts'

/** A question the lab answers: which arms are compared, by what work. `docs/guides/lab-scenarios.md` tells how to add one. */
export interface Scenario {
  readonly name: string
  readonly question: string
  /** The arm that all others are compared with. */
  readonly baseline: string
  readonly arms: readonly Arm[]
  /** What a quick run without flags keeps: few enough cells for three minutes. */
  readonly quick: Quick
  /** Values that a run without flags takes. */
  readonly connections: readonly number[]
  readonly workers: readonly number[]
  /** Numbers that belong to the work, by name, with the values that they have unless told otherwise. */
  readonly parameters?: Parameters
  /** What each arm must answer, and how. */
  request(parameters: Parameters): LoadRequest
  /** What else the work is, beside the request and the connections. */
  readonly work?: Partial<Work>
  /** How long a slice must last at least; else as long as the timing says. */
  readonly sliceMs?: number
  /** Other work for the same arms, chosen by name. */
  readonly variants?: Readonly<Record<string, Variant>>
  /** What is counted: requests, or whole runs of a job. Default: requests. */
  readonly unit?: 'request' | 'run'
}

export interface Quick {
  readonly arms: readonly string[]
  readonly connections?: readonly number[]
  readonly workers?: readonly number[]
}

export type Parameters = Readonly<Record<string, number>>

/** What differs from the scenario's own work. */
export interface Variant {
  /** What the work is, after the question. */
  readonly title: string
  readonly request?: (parameters: Parameters) => LoadRequest
  readonly work?: Partial<Work>
  readonly connections?: readonly number[]
  readonly sliceMs?: number
  /** The same with `--quick`. Default: {@link sliceMs}. */
  readonly quickSliceMs?: number
}

/** What a run is asked to do; what is left out is as the scenario has it. */
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
