import { setImmediate as turn } from 'node:timers/promises'
import { client } from '../../../../src/contract/client-entry.ts'
import { createLink } from '../../../../src/mesh/links/live-link.ts'
import { Router } from '../../../../src/mesh/routing/router.ts'
import { answerTypedCalls } from '../../../../src/mesh/typed/answer-calls.ts'
import { offerTypedCalls } from '../../../../src/mesh/typed/mesh-transport.ts'
import { refuse } from '../../../support/mesh/links.ts'
import { tcp, thread, tls, unix, type Way } from '../../../support/mesh/transports.ts'
import type { Backend } from '../backend.ts'
import { probe } from '../contract.ts'
import { hostProbe } from './hosted-probe.ts'

export const byThread = link(thread)
export const byUnix = link(unix)
export const byTcp = link(tcp)
export const byTls = link(tls)

/** To its caller, the service is in another worker. Both ends of the link are in this thread. */
function link(way: Way): Backend {
  return {
    name: `a link over ${way.name}`,
    aliases: false,
    async start(setup) {
      const { endpoint, stop } = await hostProbe(setup, false)
      const there = new Router(['probe'])
      there.add(endpoint)
      const [near, far] = await way.connect()
      const callee = createLink(far, { peer: 1, answer: answerTypedCalls({ router: there, validate: 'always' }) })
      const caller = createLink(near, { peer: 2, answer: refuse })
      const here = new Router(['probe', 'other'])
      const remote = { at: 'link', service: 'probe', worker: 2, index: 0, state: 'serving', typed: true } as const
      here.addRemote({ ...remote, link: caller })
      offerTypedCalls({ router: here, maxHops: 16, validate: 'always' })
      return {
        probe: client(probe),
        async stop() {
          await stop()
          // The errors of the ended calls are sent first.
          await turn()
          callee.close({ code: 'SERVICE_UNAVAILABLE', message: 'worker 2 has stopped' })
          await caller.closed
        },
      }
    },
  }
}
