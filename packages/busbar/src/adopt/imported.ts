/** What an import found: a config, and what became of every key of the file. */
import type { AppConfig } from '../config/schema/app-schema.ts'

export type SourceKind = 'pm2' | 'watt' | 'compose' | 'procfile' | 'workspaces' | 'script' | 'program' | 'folders'

export interface Imported {
  readonly kind: SourceKind
  /** Absolute path of the file, or of the folder of a program. */
  readonly source: string
  /** Absolute path of the folder that gets the config. */
  readonly root: string
  readonly config: AppConfig
  readonly mapped: readonly MappedKey[]
  readonly unmapped: readonly UnmappedKey[]
  /** What the file starts and Busbar cannot run. */
  readonly leftOut: readonly LeftOut[]
}

export interface MappedKey {
  /** As in the file: `apps[0].instances`. */
  readonly from: string
  /** As in the config: `services.web.instances`. */
  readonly to: string
  /** What differs. */
  readonly note?: string
}

export interface UnmappedKey {
  readonly from: string
  readonly why: string
}

export interface LeftOut {
  /** Its name in the file. */
  readonly name: string
  readonly why: string
}

/** A service as it is written in a config. */
export type ServiceConfig = Exclude<NonNullable<AppConfig['services']>[string], string>

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
