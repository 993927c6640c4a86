import type { AppConfig } from './schema/app-schema.ts'

/** The argument of a config that is a function. */
export interface ConfigContext {
  /** Environment variables. Not `NodeJS.ProcessEnv`, since users may not have Node's types. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder of the config. */
  readonly root: string
}

export type ConfigFunction = (context: ConfigContext) => AppConfig | Promise<AppConfig>

/**
 * Adds types to a config, for completion and checks in the editor, and returns it unchanged. It is
 * not generic: a type parameter would accept misspelt keys.
 */
export function defineApp(config: AppConfig | ConfigFunction): AppConfig | ConfigFunction {
  return config
}
