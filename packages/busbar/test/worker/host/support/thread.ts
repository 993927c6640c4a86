/** The thread that a test's programs run in: hosts them, and gives each a port, so that tests come by real connections. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { App } from '../../../../src/config/app.ts'
import { BusbarError } from '../../../../src/contract/errors.ts'
import type { StopTimes } from '../../../../src/shared/control.ts'
import { captureConnections } from '../../../../src/mesh/sockets/capture.ts'
import { Router } from '../../../../src/mesh/router.ts'
import { servePrivateSockets } from '../../../../src/mesh/sockets/served-instance.ts'
import { hostProgram, type HostedProgram } from '../../../../src/worker/host/host.ts'
import { installHosting } from '../../../../src/worker/host/install.ts'
import type { Started, ToTest, ToThread } from './messages.ts'

const { app } = workerData as { app: App }
const port = parentPort!
const say = (message: ToTest): void => port.postMessage(message)

const folder = mkdtempSync(join(tmpdir(), 'busbar-test-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
let sockets = 0

const hosting = installHosting({
  app,
  log: (record) => say({ type: 'log', record }),
  fault: (fault) => say(fault),
  paths: () => join(folder, String(sockets++)),
})
const router = new Router(app.services.map(({ name }) => name))
captureConnections({ router, maxHops: app.limits.maxHops })
servePrivateSockets({ router, maxHops: app.limits.maxHops })
const hosted: HostedProgram[] = []
const fronts: net.Server[] = []
let closed = 0

port.on('message', (message: ToThread) => {
  if (message.type === 'ping') say({ type: 'pong' })
  else void stop(message, message.only)
})

try {
  for (const service of app.services) hosted.push(await hostProgram(service, hosting))
  say({ type: 'started', services: await Promise.all(hosted.map(open)) })
} catch (error) {
  say({ type: 'failed', error: BusbarError.from(error).toRecord() })
}

async function open(program: HostedProgram): Promise<Started> {
  router.add(program)
  const accepted = await front((socket) => program.accept(socket.once('close', () => closed++)))
  const streamed = await front((socket) => {
    const stream = net.connect(80, `${program.service}.internal`)
    void Promise.allSettled([pipeline(socket, stream), pipeline(stream, socket)])
  })
  return { report: program.report, port: accepted, streamPort: streamed }
}

async function front(connected: (socket: net.Socket) => void): Promise<number> {
  const server = net.createServer({ allowHalfOpen: true }, connected)
  fronts.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** As a drain does: no new connection, then the services in reverse order. */
async function stop(times: StopTimes, only: string | undefined): Promise<void> {
  const stopping = hosted.filter((program) => only === undefined || program.service === only).toReversed()
  if (only === undefined) for (const server of fronts) server.close()
  for (const program of stopping) await program.stop(times)
  say({ type: 'stopped', closed, states: hosted.map((program) => program.state) })
}
