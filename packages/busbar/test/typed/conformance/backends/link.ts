import { setImmediate as turn } from 'node:timers/promises'
import { client } from '../../../../src/contract/client-entry.ts'
import { createLink } from '../../../../src/mesh/links/live-link.ts'
import { Router } from '../../../../src/mesh/router.ts'
import { answerCalls } from '../../../../src/mesh/typed/answer.ts'
import { offerTypedCalls } from '../../../../src/mesh/typed/transport.ts'
import { refuse } from '../../../support/links.ts'
import { thread, unix, type Way } from '../../../support/pipes.ts'
import type { Backend } from '../backend.ts'
import { probe } from '../contract.ts'
import { hostProbe } from './hosted-probe.ts'

export const byThread = link(thread)
export const byUnix = link(unix)

/** The service is in another worker, as its caller sees it; both are in this thread. */
function link(way: Way): Backend {
  return {
    name: `a link over ${way.name}`,
    aliases: false,
    async start(setup) {
      const { endpoint, stop } = await hostProbe(setup, false)
      const there = new Router(['probe'])
      there.add(endpoint)
      const [near, far] = await way.pipes()
      const callee = createLink(far, { peer: 1, answer: answerCalls({ router: there, validate: 'always' }) })
      const caller = createLink(near, { peer: 2, answer: refuse })
      const here = new Router(['probe', 'other'])
      const place = { at: 'link', service: 'probe', worker: 2, index: 0, state: 'serving', typed: true } as const
      here.addRemote({ ...place, link: caller })
      offerTypedCalls({ router: here, maxHops: 16, validate: 'always' })
      return {
        probe: client(probe),
        async stop() {
          await stop()
          // What the calls that were ended are told goes out first.
          await turn()
          callee.close({ code: 'SERVICE_UNAVAILABLE', message: 'worker 2 has stopped' })
          await caller.closed
        },
      }
    },
  }
}
