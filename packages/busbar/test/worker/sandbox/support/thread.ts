/**
 * Entry of the thread that hosts a test's programs. Each gets real ports for the test's
 * connections.
 */
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { App } from '../../../../src/config/app.ts'
import { BusbarError } from '../../../../src/contract/errors.ts'
import type { StopTimes } from '../../../../src/shared/time/stop-times.ts'
import { captureConnections } from '../../../../src/mesh/sockets/capture.ts'
import { Router } from '../../../../src/mesh/routing/router.ts'
import { servePrivateSockets } from '../../../../src/mesh/sockets/instance/served-instance.ts'
import { atWorkFault, isAtWork } from '../../../../src/node/requests-at-work.ts'
import type { HostedService } from '../../../../src/worker/hosted-service.ts'
import { hostProgram } from '../../../../src/worker/sandbox/hosted-program.ts'
import { installSandbox } from '../../../../src/worker/sandbox/sandbox.ts'
import type { Started, ToTest, ToThread } from './messages.ts'

const { app, folder } = workerData as { app: App; folder: string }
const port = parentPort!
const send = (message: ToTest): void => port.postMessage(message)

let sockets = 0

const sandbox = installSandbox({
  app,
  log: (record) => send({ type: 'log', record }),
  fault: (fault) => send(fault),
  paths: () => join(folder, String(sockets++)),
  signs: { isAtWork, fault: atWorkFault },
})
const router = new Router(app.services.map(({ name }) => name))
captureConnections({ router, maxHops: app.limits.maxHops })
servePrivateSockets({ router, maxHops: app.limits.maxHops })
const hosted: HostedService[] = []
const ports: net.Server[] = []
let closed = 0

port.on('message', (message: ToThread) => {
  if (message.type === 'ping') send({ type: 'pong' })
  else void stop(message, message.only)
})

try {
  for (const service of app.services) hosted.push(await hostProgram(service, sandbox))
  send({ type: 'started', services: await Promise.all(hosted.map(open)) })
} catch (error) {
  send({ type: 'failed', error: BusbarError.from(error).toRecord() })
}

async function open(program: HostedService): Promise<Started> {
  router.add(program)
  const accepted = await openPort((socket) => program.accept(socket.once('close', () => closed++)))
  const streamed = await openPort((socket) => {
    const stream = net.connect(80, `${program.service}.internal`)
    void Promise.allSettled([pipeline(socket, stream), pipeline(stream, socket)])
  })
  return { report: program.report, port: accepted, streamPort: streamed }
}

async function openPort(connected: (socket: net.Socket) => void): Promise<number> {
  const server = net.createServer({ allowHalfOpen: true }, connected)
  ports.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Stops as a drain does: first the ports, then the services in reverse order. */
async function stop(times: StopTimes, only: string | undefined): Promise<void> {
  const stopping = hosted.filter((program) => only === undefined || program.service === only).toReversed()
  if (only === undefined) for (const server of ports) server.close()
  for (const program of stopping) await program.stop(times)
  send({ type: 'stopped', closed, states: hosted.map((program) => program.state) })
}
