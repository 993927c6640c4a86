import type { Service } from '../app.ts'
import type { ParsedConfig } from '../schema/schema.ts'

/** What the gateway's part of a config is read with. */
export interface GatewayContext {
  readonly root: string
  readonly config: ParsedConfig
  readonly env: NodeJS.ProcessEnv
  /** All that the config names, those that could not be resolved included. */
  readonly names: readonly string[]
  readonly services: readonly Service[]
}
