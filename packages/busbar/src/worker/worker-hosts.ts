import type { App } from '../config/app.ts'
import type { ErrorRecord } from '../contract/errors.ts'
import type { ExportListener } from '../mesh/hosts/export/export-listener.ts'
import type { Identity } from '../shared/hosts.ts'

/** What a worker has to do with other apps. */
export interface WorkerHosts {
  /** Undefined if this worker exports nothing at a port. */
  readonly exported: ExportListener | undefined
  /** Resolves when every host was dialled once, or a while has passed. */
  dialled(): Promise<void>
  /**
   * The worker takes part in what the app serves from now on. Resolves when other apps can call it.
   */
  announced(): Promise<void>
  setIdentity(identity: Identity): void
  /** Waits until other apps call elsewhere, for at most `timeout` milliseconds. */
  drain(timeout: number, appStops: boolean): Promise<void>
  /** Waits until other apps have read their answers, for at most `timeout` milliseconds. */
  finish(timeout: number): Promise<void>
  /** Fails the calls in flight with `reason`. Resolves after `limit` milliseconds at the latest. */
  close(reason: ErrorRecord, limit: number): Promise<void>
}

/**
 * For apps that neither call others nor are called by them: their workers do not load the code of
 * such links.
 */
export const noHosts: WorkerHosts = {
  exported: undefined,
  dialled: async () => {},
  announced: async () => {},
  setIdentity: () => {},
  drain: async () => {},
  finish: async () => {},
  close: async () => {},
}

export function hasHosts({ remotes = [], export: exported, cluster }: App): boolean {
  return remotes.length > 0 || exported !== undefined || cluster !== undefined
}
