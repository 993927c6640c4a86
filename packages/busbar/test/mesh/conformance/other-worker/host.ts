/**
 * Runs the programs of cases in another worker, a thread or a process, at the other end of a link.
 */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { createLink } from '../../../../src/mesh/links/live-link.ts'
import type { PacketTransport } from '../../../../src/mesh/links/packet-transport.ts'
import { Router } from '../../../../src/mesh/routing/router.ts'
import { servePrivateSockets } from '../../../../src/mesh/sockets/instance/served-instance.ts'
import { threadTransport } from '../../../../src/mesh/transports/thread.ts'
import { listenUnix } from '../../../../src/mesh/transports/unix.ts'
import { exchanges, streams } from '../../../support/mesh/accelerators.ts'
import { TestEndpoint } from '../../../support/mesh/test-endpoint.ts'
import { answerer } from '../../../support/mesh/linked-endpoint.ts'
import { cases } from '../cases/all.ts'
import { ProgramLog } from '../program-log.ts'
import { randomCase } from '../random-case.ts'
import type { CaseKey, FromHost, ToHost } from './messages.ts'

const router = new Router(['callee'])
servePrivateSockets({ router, maxHops: 8 })

/** Sends each entry to the other side. */
class ToldLog extends ProgramLog {
  override add(event: string): void {
    super.add(event)
    say({ type: 'logged', event, aside: false })
  }

  override addAside(event: string): void {
    super.addAside(event)
    say({ type: 'logged', event, aside: true })
  }
}

let log = new ToldLog()
let endpoint: TestEndpoint | undefined

async function obey(order: ToHost): Promise<void> {
  switch (order.type) {
    case 'serve':
      log = new ToldLog()
      endpoint = new TestEndpoint('callee', await caseOf(order.key).program(log))
      router.add(endpoint)
      return say({ type: 'serving', path: endpoint.listener?.path })
    case 'add':
      return log.add(order.event)
    case 'settle':
      await log.settled()
      return say({ type: 'settled', program: log.byCall() })
    case 'close':
      endpoint!.server.closeAllConnections()
      await endpoint![Symbol.asyncDispose]()
      router.remove(endpoint!)
      return say({ type: 'closed' })
  }
}

function caseOf(key: CaseKey) {
  return 'seed' in key ? randomCase(key.seed) : cases.find(({ name }) => name === key.name)!
}

function say(what: FromHost): void {
  if (parentPort === null) process.send!(what)
  else parentPort.postMessage(what)
}

function answer(transport: PacketTransport): void {
  createLink(transport, { peer: 1, answer: answerer({ router, maxHops: 8, exchanges, streams }) })
}

// A program's exceptions are part of what is compared.
process.setUncaughtExceptionCaptureCallback((error) => log.addAside(`uncaught ${error.message}`))
if (parentPort === null) {
  process.on('message', (order: ToHost) => void obey(order))
  await listenUnix(process.argv[2]!, { worker: 2, secret: 's' }, ({ transport }) => answer(transport))
} else {
  parentPort.on('message', (order: ToHost) => void obey(order))
  answer(threadTransport((workerData as { link: MessagePort }).link))
}
say({ type: 'ready' })
