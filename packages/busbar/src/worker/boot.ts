import { type ErrorRecord, restoreError } from '../contract/errors.ts'
import { isRawEntry } from '../config/app.ts'
import { gateCalls } from '../mesh/routing/limits/gated-calls.ts'
import { startMesh, answerLinkCalls } from '../mesh/mesh.ts'
import { ConnectionForwarder } from '../mesh/forwarding/connection-forwarder.ts'
import type { CallHandler } from '../mesh/links/link.ts'
import { EventPublisher } from '../mesh/events/event-publisher.ts'
import { Peers } from '../mesh/peers.ts'
import { offerTypedCalls, serviceTransport } from '../mesh/typed/mesh-transport.ts'
import { enqueueBy } from '../mesh/typed/enqueue-by.ts'
import { Router } from '../mesh/routing/router.ts'
import type { LogRecord, PeerSpec, WorkerInit } from '../shared/control-messages.ts'
import { localPortsOf } from '../shared/calls/local-ports.ts'
import { callableNames } from '../shared/hosts.ts'
import { RepeatedLines } from '../shared/output/repeated-lines.ts'
import { defaultAccelerators } from '../shared/accelerators.ts'
import { atWorkFault, isAtWork } from '../node/requests-at-work.ts'
import { configuredTemplates } from '../shared/path-templates/known-templates.ts'
import { startAccelerators } from './accelerators.ts'
import { type Fault, installSandbox } from './sandbox/sandbox.ts'
import { PipedOutput } from './sandbox/process/piped-output.ts'
import { ConcurrencyLimits } from './lifecycle/concurrency-limits.ts'
import type { Metering } from './reporting/metering.ts'
import { PeerServices } from './lifecycle/peer-services.ts'
import type { Outbox } from './reporting/outbox.ts'
import { reportFastifyRoutes } from './templates/fastify-routes.ts'
import { TemplateReports } from './templates/template-reports.ts'
import { hasHosts, noHosts } from './worker-hosts.ts'
import { WorkerApp, type WorkerParts } from './lifecycle/worker-app.ts'

/**
 * Prepares this thread or process to host services: installs the sandbox and the mesh. Called once.
 */
export async function prepareWorker(init: WorkerInit, parts: WorkerParts): Promise<WorkerApp> {
  const { app } = init
  const { metering, outbox } = parts
  // A process hosts one service, which has the pipes for itself.
  const output = init.kind === 'process' ? new PipedOutput() : undefined
  const { validate } = app
  const { maxHops } = app.limits
  const services = app.services.filter(({ name }) => init.hosts.some((host) => host.name === name))
  // Loaded before anything is patched, and only where it is needed: each takes some 40 ms.
  const typed = services.some(({ kind }) => kind === 'typed')
    ? await import('./typed/hosted-typed-service.ts')
    : undefined
  const gateway = init.kind === 'shared' && !isRawEntry(app) ? await import('./lifecycle/open-gateway.ts') : undefined
  const linked = hasHosts(app) ? await import('./linked-hosts.ts') : undefined
  const limits = new ConcurrencyLimits(init, services, metering)
  const router = new Router(callableNames(app), metering.loads, limits.limited, localPortsOf(app.services))
  let worker: WorkerApp | undefined
  const fault = (fault: Fault): void => {
    outbox.post(fault)
    worker?.fail(restoreError({ ...fault.error, code: 'WORKER_DIED' }))
  }
  const log = (record: LogRecord): void => outbox.log(record)
  const unused = gateway === undefined ? (['handover'] as const) : []
  const wanted = app.accelerators ?? defaultAccelerators
  const { states, attachments } = await startAccelerators(wanted, init.probed, unused)
  outbox.post({ type: 'accelerators', states })
  const paths = privateSocketPaths(init.sockets)
  const signs = { isAtWork, fault: atWorkFault }
  const templates = reportTemplates(init, parts)
  const sandbox = installSandbox({ app, services, calls: init.calls, output, log, fault, paths, signs })
  const { exchange: exchanges, stream: streams } = attachments
  const { meter, tracer } = metering
  const mesh = { router, maxHops, validate, meter, tracer, gates: limits.gates, exchanges, streams }
  await startMesh(mesh)
  const forwarder = new ConnectionForwarder(mesh, init.calls)
  const countDropped = (service: string): void => metering.of(service).countEventDropped()
  const events = new EventPublisher({ router, maxHops, countDropped })
  const enqueue = enqueueBy({ router, remotes: app.remotes }, serviceTransport(mesh))
  offerTypedCalls(mesh, { publish: events.publish, enqueue })
  const answer = gateCalls(limits.gates, answerLinkCalls(mesh))
  limits.open(answer)
  const hostsParts = { init, mesh, events, answer, metering, outbox, socketPath: paths }
  const hosts = linked === undefined ? noHosts : new linked.LinkedHosts(hostsParts)
  await hosts.dialled()
  const peers = createPeers(init, { router, answer, limits, metering, outbox })
  await peers.listen()
  if (init.listenAt !== undefined) outbox.post({ type: 'listening' })
  const peerServices = new PeerServices(peers)
  worker = new WorkerApp({
    ...parts,
    init,
    services,
    router,
    sandbox,
    peerServices,
    peers,
    hosts,
    limits,
    mesh,
    forwarder,
    attachments,
    templates,
    ...typed,
    ...gateway,
  })
  return worker
}

/** The path templates of the config, and those that this worker finds while its services start. */
function reportTemplates({ app, hosts }: WorkerInit, { metering, outbox }: WorkerParts): TemplateReports {
  for (const one of configuredTemplates([...app.services, ...(app.remotes ?? [])])) metering.templates.configure(one)
  const reports = new TemplateReports(metering.templates, outbox)
  reportFastifyRoutes(reports, hosts.length === 1 ? hosts[0]!.name : undefined)
  return reports
}

interface PeerParts {
  readonly router: Router
  readonly answer: CallHandler
  readonly limits: ConcurrencyLimits
  readonly metering: Metering
  readonly outbox: Outbox
}

/** Creates this worker's end of the links to its peers. Their events go to the supervisor. */
function createPeers(init: WorkerInit, { router, answer, limits, metering, outbox }: PeerParts): Peers {
  const { worker, secret, listenAt, kind } = init
  const unread = new RepeatedLines((level, line) =>
    outbox.log({ time: Date.now(), level, service: undefined, stream: 'busbar', line }),
  )
  return new Peers({
    worker,
    secret,
    listenAt,
    router,
    answer,
    // A process reports its load by its links: it shares no memory.
    loadOf: kind === 'process' ? (service: string) => metering.of(service).inFlight : undefined,
    onLinkLost: ({ worker: peer, link }: PeerSpec, reason: ErrorRecord) =>
      outbox.post({ type: 'unlinked', peer, link, reason }),
    onUnread: (line) => unread.add('warn', line, 'unread'),
    onDrained: (peer: number) => outbox.post({ type: 'callsDrained', peer }),
    onAbandoned: (peer, { service, kind: callKind }, call) => {
      if (limits.mustReportAbandoned(service, callKind)) outbox.post({ type: 'callAbandoned', peer, service, call })
    },
  })
}

/** Returns a new path for each server that listens. */
function privateSocketPaths(prefix: string): () => string {
  let next = 0
  return () => `${prefix}-${next++}`
}
