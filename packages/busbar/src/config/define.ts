import type { AppConfig } from './schema/schema.ts'

/** What a config that is a function is called with. */
export interface ConfigContext {
  /** The variables that placeholders are filled from. Written out, since a user need not have Node's types. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder of the config. */
  readonly root: string
}

export type ConfigFunction = (context: ConfigContext) => AppConfig | Promise<AppConfig>

/**
 * Gives a config its types, for completion and checks in the editor; the value is returned as it is. Not generic, since a
 * type parameter would take any further key for its own and let a misspelt one pass.
 */
export function defineApp(config: AppConfig | ConfigFunction): AppConfig | ConfigFunction {
  return config
}
