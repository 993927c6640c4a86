import { fileURLToPath } from 'node:url'
import type { LoadRequest, Protocol } from './engine/job.ts'

/** One of the alternatives that a scenario compares: how to start it, and how to reach it. */
export interface Arm {
  /** Its name on the command line, such as `tcp-16`. */
  readonly name: string
  /** A description for reports. */
  readonly title: string
  /** What has to be installed or built first. Undefined: nothing. */
  readonly requires?: Requirement
  /** A command that has to be on this machine, besides {@link requires}. */
  readonly requiresCommand?: RequiredCommand
  /** Runs only if the command line names it: peers, and arms that take long. */
  readonly onlyWhenAsked?: boolean
  /** Ignores the number of workers, so it is measured at the first number only. */
  readonly single?: boolean
  /** Ports that it opens whatever it is given: it runs once at a time. */
  readonly fixedPorts?: readonly number[]
  /**
   * The sampler is not preloaded. For threads so short-lived that loading it would distort the
   * result.
   */
  readonly unsampled?: boolean
  /** Milliseconds that it has to end after SIGTERM. Default: 0, it is killed at once. */
  readonly stopTime?: number
  /** Names of the scenario's variants that it does not implement. */
  readonly lacks?: readonly string[]
  /** Translates the scenario's request into this arm's protocol. Undefined: unchanged. */
  translate?(request: LoadRequest): LoadRequest
  /** How to start it. Has no side effects. */
  launch(context: LaunchContext): Launch
}

/**
 * Installed into the lab's cache folder on first use (`requirements.ts`), never a dependency of the
 * lab.
 */
export type Requirement =
  /** Exact versions by name. */
  | { readonly kind: 'npm'; readonly packages: Readonly<Record<string, string>> }
  /**
   * A Go program in the folder `arms` that uses only the standard library. Built as `program` in
   * {@link LaunchContext.packages}.
   */
  | { readonly kind: 'go'; readonly source: string }
  /**
   * A Go module in the folder `arms`, with the packages that its `go.sum` names. Built as
   * `program`, too.
   */
  | { readonly kind: 'go-module'; readonly source: string; readonly packages: readonly string[] }

/** A program of others that the lab finds (`findCommand`), and does not install. */
export interface RequiredCommand {
  readonly name: string
  /** Its arguments to print its version. */
  readonly printVersion: readonly string[]
  /** How to get it, as part of a sentence. */
  readonly hint: string
}

/** Resources of one running arm. No two running arms share any. */
export interface LaunchContext {
  /** The first of {@link portsPerArm} reserved ports on the loopback interface. */
  readonly port: number
  /** A temporary folder. */
  readonly folder: string
  /** The folder of what the arm requires: it has `node_modules`, or the built `program`. */
  readonly packages: string
  /** Number of workers or processes. */
  readonly workers: number
  readonly certificate: CertificateFiles
}

export const portsPerArm = 8

/** {@link Arm.stopTime} of programs of others, which may have to remove lock files. */
export const usualStopTime = 2000

export interface CertificateFiles {
  /** PEM files of a self-signed certificate for `localhost` and 127.0.0.1. */
  readonly cert: string
  readonly key: string
}

export interface Launch {
  readonly command: readonly [program: string, ...args: string[]]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly target: ArmTarget
  /** When it has started. Default: when it answers 200 at the path of its target. */
  readonly ready?: Readiness
}

export interface Readiness {
  /** `any`: also other answers, for programs whose paths are unknown. A 5xx has three seconds. */
  readonly status: 200 | 'any'
  /** Ports of the loopback interface that must accept connections, too. */
  readonly ports: readonly number[]
}

export interface ArmTarget {
  readonly address?: string
  readonly unix?: string
  /** Uses {@link LaunchContext.certificate}, unless `certificate` is set. */
  readonly tls?: boolean
  /** Default: HTTP/1.1. */
  readonly protocol?: Protocol
  /** PEM file, server certificate first. */
  readonly certificate?: string
  readonly path: string
}

const isBuilt = import.meta.url.endsWith('.js')

/**
 * Path of a program (`scaling/hello.ts`) or a folder in the folder `arms`. In an installed lab it
 * is the built file, since Node does not strip types below `node_modules`.
 */
export function armProgram(file: string): string {
  return fileURLToPath(isBuilt ? new URL(`arms/${file.replace(/\.ts$/, '.js')}`, import.meta.url) : armSource(file))
}

/** URL of a source file in `arms` that is not built with the lab, such as a Go program. */
export function armSource(file: string): URL {
  return new URL(`../arms/${file}`, import.meta.url)
}

export const node: string = process.execPath
