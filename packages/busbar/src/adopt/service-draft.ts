import type { ServiceConfig } from './imported.ts'

/** A service that is being assembled. */
export interface ServiceDraft {
  readonly name: string
  readonly config: ServiceConfig
  /** Where its clients reach it today. */
  port: number | undefined
  /** The address, if the file names one. */
  host: string | undefined
  /** Merged over its config by environment. */
  readonly environments: Record<string, ServiceConfig>
}
