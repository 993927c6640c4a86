import { accelerators } from './accelerators.ts'
import { contention } from './contention.ts'
import { fanout } from './fanout.ts'
import { offload } from './offload.ts'
import { protocols } from './protocols.ts'
import { rpc } from './rpc.ts'
import { scaling } from './scaling.ts'
import type { Scenario } from './scenario.ts'

export const scenarios: ReadonlyMap<string, Scenario> = new Map(
  [fanout, scaling, rpc, offload, protocols, contention, accelerators].map((each) => [each.name, each]),
)
