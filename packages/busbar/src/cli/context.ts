import type { findHazards } from '../config/hazards.ts'
import type { loadApp } from '../config/load.ts'
import type { canRestartInto, planApp } from '../supervisor/plan.ts'
import type { startApp } from '../supervisor/supervisor.ts'
import type { Flags } from './commands.ts'
import type { Terminal } from './terminal.ts'

/** What a command works with. */
export interface Context {
  /** The folder or file it was given, as it was written; undefined for the folder it stands in. */
  readonly operand: string | undefined
  readonly flags: Flags
  /** Of a command that forwards: all that stands behind it. */
  readonly rest: readonly string[]
  readonly terminal: Terminal
  readonly parts: Parts
}

/** The layers that the command line puts together. */
export interface Parts {
  readonly loadApp: typeof loadApp
  readonly findHazards: typeof findHazards
  readonly startApp: typeof startApp
  readonly planApp: typeof planApp
  readonly canRestartInto: typeof canRestartInto
}

export async function loadParts(): Promise<Parts> {
  const [load, hazards, plan, supervisor] = await Promise.all([
    import('../config/load.ts'),
    import('../config/hazards.ts'),
    import('../supervisor/plan.ts'),
    import('../supervisor/supervisor.ts'),
  ])
  return { ...load, ...hazards, ...plan, ...supervisor }
}
