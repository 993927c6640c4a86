import { findServices } from '../../../busbar/src/adopt/sources/find-sources.ts'
import type { CommandContext } from '../../../busbar/src/cli/command.ts'
import { Preparation } from '../../../busbar/src/cli/commands/try/preparation.ts'
import { readRequests, tryCommand } from '../../src/index.ts'
import type { Timing } from '../../src/protocol/plan.ts'
import type { Activity } from '../../src/protocol/round.ts'
import { tryApp } from '../../src/try-app/try-app.ts'
import type { Tried } from '../../src/try-app/tried-app.ts'
import { OwnCache, tiny } from './fixture.ts'
import type { Repository } from './repository.ts'

export interface MeasuredTrial {
  readonly tried: Tried
  /** Of the measurement, in order. */
  readonly steps: readonly { readonly cell: string; readonly activity: Activity }[]
}

/** `busbar try` in this process, with a round that is too short for figures. */
export async function measureRepository(
  { path }: Repository,
  flags: CommandContext['flags'] = {},
  timing: Partial<Timing> = {},
): Promise<MeasuredTrial> {
  using _ = new OwnCache()
  const output = { stream: process.stderr, isTerminal: false, colors: false, lost: new AbortController().signal }
  const context: CommandContext = {
    operands: [],
    flags,
    rest: [],
    terminal: { out: output, err: output, env: process.env, cwd: path },
    commands: [],
  }
  const found = await findServices(path)
  const preparation = new Preparation(context, found!, { tryCommand, readRequests })
  const steps: MeasuredTrial['steps'][number][] = []
  const tried = await tryApp((folder, learned) => preparation.prepare(folder, learned), {
    signal: new AbortController().signal,
    timing: { ...tiny, ...timing },
    onProgress: ({ cell, activity }) => void steps.push({ cell, activity }),
  })
  return { tried, steps }
}
