/** One of the alternatives a scenario compares: how to start it, and how to reach what it serves. */
export interface Arm {
  /** As it is asked for on the command line, such as `tcp-16`. */
  readonly name: string
  /** What it is, in the words of a table's first column. */
  readonly title: string
  /** What must be there before it can run. Absent: nothing beyond Node. */
  readonly requires?: readonly Requirement[]
  /** Left out of a run that does not name it: peers, and what takes long. */
  readonly onlyWhenAsked?: boolean
  /** Says how to start one copy of it at this place. Pure: nothing is started. */
  launch(place: Place): Launch
}

/** Installed into the lab's cache folder when first asked for; never a dependency of the lab. */
export type Requirement =
  | { readonly kind: 'npm'; readonly packages: Readonly<Record<string, string>> }
  | { readonly kind: 'command'; readonly command: string; readonly hint: string }

/** What a started copy may use. Each copy has its own, so that two never meet. */
export interface Place {
  /** The first of {@link portsPerArm} ports on the loopback interface that were free a moment ago. */
  readonly port: number
  /** A folder of its own that is deleted afterwards. */
  readonly folder: string
  /** The folder whose `node_modules` has what the arm requires. */
  readonly packages: string
  /** How many workers or processes the cell wants. */
  readonly workers: number
  readonly certificate: CertificateFiles
}

export const portsPerArm = 8

export interface CertificateFiles {
  /** PEM files; the certificate is its own authority and good for `localhost` and 127.0.0.1. */
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
  readonly tls?: boolean
  readonly path: string
}

/** A program of the folder `arms`, run by the Node that runs the lab. */
export function armProgram(file: string): string {
  return new URL(`../arms/${file}`, import.meta.url).pathname
}

export const node: string = process.execPath
