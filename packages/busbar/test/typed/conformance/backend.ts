import type { Client } from '../../../src/contract/client-entry.ts'
import type { Implementation, Log } from '../../../src/contract/index.ts'
import type { probe } from './contract.ts'

export type Probe = Client<(typeof probe)['methods']>

export interface Setup {
  readonly implementation: Implementation<(typeof probe)['methods']>
  readonly log: Log
}

/** One of the ways by which calls reach the service. */
export interface Backend {
  readonly name: string
  /**
   * Whether arguments and results pass by reference: only within a thread, and not in development.
   */
  readonly aliases: boolean
  start(setup: Setup): Promise<Connected>
}

export interface Connected {
  readonly probe: Probe
  /** Stops the service at once, without waiting for calls in flight. */
  stop(): Promise<void>
}

/** Collects the log of the service, whose details no caller may see. */
export class TestLog implements Log {
  readonly lines: string[] = []

  debug(message: string): void {
    this.lines.push(message)
  }

  info(message: string): void {
    this.lines.push(message)
  }

  warn(message: string): void {
    this.lines.push(message)
  }

  error(message: string): void {
    this.lines.push(message)
  }
}
