/** What `busbar try` gives to the lab, and what it gets. Both are plain values. */
import type { ComparisonResult } from '../result.ts'

/** An app of somebody who does not use Busbar yet. */
export interface TriedApp {
  readonly name: string
  /** How each service is started today. Empty: nobody knows. */
  readonly today: readonly TriedService[]
  /** Why the services cannot run as today. Undefined if they can. */
  readonly notToday?: string
  /** The folder of the config by which Busbar runs the app. */
  readonly folder: string
  /** Service that gets the requests of the gateway. */
  readonly entry: string
  /** Ports that Busbar opens besides the gateway's, by service. */
  readonly exposed: Readonly<Record<string, number>>
  /** Whether Busbar can run the app while the services of today hold their ports. */
  readonly beside: BesideToday
  /** Answers to these are compared. */
  readonly requests: readonly TriedRequest[]
  /** Milliseconds for the measurements. */
  readonly budgetMs: number
  readonly connections: number
}

export type BesideToday =
  /** `location`: the config that opens no port but the gateway's. */
  { readonly possible: true; readonly location: string } | { readonly possible: false; readonly why: string }

/** What the runs of an app have shown. */
export interface Learned {
  /** Ports at which services listen that were not known. */
  readonly ports: Readonly<Record<string, number>>
  /** Services that opened no port. */
  readonly silent: readonly string[]
  /** Why placements could not be started. */
  readonly problems: readonly string[]
}

/**
 * Writes the config into the folder. Called again when a run has shown something; the same object
 * again says that nothing changes.
 */
export type Prepare = (folder: string, learned: Learned) => Promise<TriedApp>

export interface TriedService {
  readonly name: string
  /** Program and arguments; `$PORT` stands for its port. */
  readonly command: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Undefined: it listens on the variable `PORT`. */
  readonly port: number | undefined
  /** Services that listen before it starts. */
  readonly needs: readonly string[]
}

export interface TriedRequest {
  /** Undefined: the entry. */
  readonly service?: string
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body?: string
  /** How often it is sent under load, beside the others. */
  readonly weight: number
}

export interface Tried {
  /** The first is today, if that could be started. */
  readonly arms: readonly TriedArm[]
  /** Sentences that a reader must know. */
  readonly notes: readonly string[]
  readonly generator: 'busbar-load' | 'autocannon' | null
  /** How many of the requests were measured. */
  readonly measured: number
  /** Ports that only showed when the services ran. By service. */
  readonly foundPorts: Readonly<Record<string, number>>
}

/** One way of running the app. */
export interface TriedArm {
  readonly name: string
  readonly title: string
  /** Why it could not be started. Null: it ran. */
  readonly problem: string | null
  readonly answers: readonly ComparedRequest[]
  readonly figures: Figures | null
}

export interface ComparedRequest {
  readonly service: string
  readonly method: string
  readonly path: string
  /** Null: there was no answer. */
  readonly status: number | null
  readonly differences: readonly AnswerDifference[]
  readonly ignored: readonly IgnoredPart[]
}

/** Null for a part that is missing. */
export interface AnswerDifference {
  /** `status`, `header etag`, `body /items/0/name`, `body line 3`. */
  readonly part: string
  readonly today: string | null
  readonly here: string | null
}

/** A part that cannot be compared. */
export interface IgnoredPart {
  readonly part: string
  readonly why: string
}

/** Null: not measured. */
export interface Figures {
  readonly perCpuSecond: number | null
  readonly perSecond: number | null
  /** Milliseconds. */
  readonly p99: number | null
  /** Bytes: proportional memory of all processes. */
  readonly memory: number | null
  /** Requests per CPU second, against the first arm. */
  readonly comparison: Pick<ComparisonResult, 'ratio' | 'low' | 'high' | 'confidence' | 'verdict'> | null
  /** For an unclear comparison: seconds of measuring that it would take. Null if unknown. */
  readonly secondsNeeded: number | null
  /** Why the figures do not count. */
  readonly invalidBecause: readonly string[]
}
