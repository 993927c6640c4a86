import { fileURLToPath } from 'node:url'
import type { LoadRequest } from './engine/job.ts'

/** One of the alternatives a scenario compares: how to start it, and how to reach what it serves. */
export interface Arm {
  /** As it is asked for on the command line, such as `tcp-16`. */
  readonly name: string
  /** What it is, in the words of a table's first column. */
  readonly title: string
  /** What must be there before it can run. Absent: nothing beyond Node. */
  readonly requires?: Requirement
  /** Left out of a run that does not name it: peers, and what takes long. */
  readonly onlyWhenAsked?: boolean
  /** Has one process and thread however many are asked for: measured at the first number of workers only. */
  readonly single?: boolean
  /** Nothing of the lab's is loaded into its programs: for threads that live so short that loading it would count. */
  readonly unsampled?: boolean
  /** The scenario's request in this arm's own protocol. Absent: as it is. */
  translate?(request: LoadRequest): LoadRequest
  /** Says how to start one copy of it at this place. Pure: nothing is started. */
  launch(place: Place): Launch
}

/** Put into the lab's cache folder when first asked for (`packages.ts`); never a dependency of the lab. */
export type Requirement =
  /** Exact versions by name. */
  | { readonly kind: 'npm'; readonly packages: Readonly<Record<string, string>> }
  /** A Go program of the folder `arms`, of the standard library only; built as `program` into {@link Place.packages}. */
  | { readonly kind: 'go'; readonly source: string }

/** What a started copy may use. Each copy has its own, so that two never meet. */
export interface Place {
  /** The first of {@link portsPerArm} ports on the loopback interface that were free a moment ago, and no other lab takes. */
  readonly port: number
  /** A folder of its own that is deleted afterwards. */
  readonly folder: string
  /** The folder that has what the arm requires: `node_modules`, or the built `program`. Else of no meaning. */
  readonly packages: string
  /** How many workers or processes the cell wants. */
  readonly workers: number
  readonly certificate: CertificateFiles
}

export const portsPerArm = 8

export interface CertificateFiles {
  /** PEM files; the certificate is trusted by itself and good for `localhost` and 127.0.0.1. */
  readonly cert: string
  readonly key: string
}

export interface Launch {
  readonly command: readonly [program: string, ...args: string[]]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly target: ArmTarget
}

export interface ArmTarget {
  readonly address?: string
  readonly unix?: string
  /** By {@link Place.certificate}, unless it has one of its own. */
  readonly tls?: boolean
  /** A PEM file, the server's own certificate first. */
  readonly certificate?: string
  readonly path: string
}

const isBuilt = import.meta.url.endsWith('.js')

/**
 * A program (`scaling/hello.ts`) or a folder of the folder `arms`, run by the Node that runs the lab: as it was written,
 * or as it was built where the lab itself was, since Node strips no types from what was installed.
 */
export function armProgram(file: string): string {
  return fileURLToPath(isBuilt ? new URL(`arms/${file.replace(/\.ts$/, '.js')}`, import.meta.url) : armSource(file))
}

/** Of what is not built with the lab, such as programs in Go. */
export function armSource(file: string): URL {
  return new URL(`../arms/${file}`, import.meta.url)
}

export const node: string = process.execPath
