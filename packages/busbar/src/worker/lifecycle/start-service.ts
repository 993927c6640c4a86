import { isRawEntry, type Service } from '../../config/app.ts'
import { pathOf } from '../../contract/http/mapping/method-routes.ts'
import type { TypedHost } from '../../contract/host/typed-host.ts'
import { queuedVersions } from '../../contract/queues/method-version.ts'
import type { HealthCheck } from '../../shared/app/supervision.ts'
import { raiseHeadLimits } from '../../mesh/http/head-limits.ts'
import type { TypedMesh } from '../../mesh/typed/mesh-transport.ts'
import type { Router } from '../../mesh/routing/router.ts'
import type { WorkerInit } from '../../shared/control-messages.ts'
import type { HostedService } from '../hosted-service.ts'
import type { Metering } from '../reporting/metering.ts'
import type { Outbox } from '../reporting/outbox.ts'
import { hostProgram } from '../sandbox/hosted-program.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { TemplateReports } from '../templates/template-reports.ts'
import type { hostTypedService } from '../typed/hosted-typed-service.ts'
import type { ConcurrencyLimits } from './concurrency-limits.ts'
import { ServiceHealth } from './service-health.ts'

export interface StartServiceParts {
  readonly init: WorkerInit
  readonly router: Router
  readonly sandbox: Sandbox
  readonly metering: Metering
  readonly outbox: Outbox
  readonly limits: ConcurrencyLimits
  readonly mesh: TypedMesh
  readonly templates: TemplateReports
  /** Undefined if this worker hosts no typed service. */
  readonly hostTypedService?: typeof hostTypedService
}

export interface StartedService {
  readonly hosted: HostedService
  /** Undefined if its health is not checked. */
  readonly health: ServiceHealth | undefined
}

/**
 * Starts a service and adds it to the router. Rejects with a BusbarError that names the service.
 */
export async function startService(service: Service, parts: StartServiceParts): Promise<StartedService> {
  const { init, router, sandbox, metering, outbox, limits: concurrency, mesh, templates, hostTypedService } = parts
  const { limits, gateway, interceptors } = init.app
  const cells = metering.of(service.name)
  cells.state = 'starting'
  outbox.post({ type: 'starting', service: service.name })
  const began = performance.now()
  const metered = { ...sandbox, metering, templates }
  const admission = concurrency.eventAdmission(service)
  const typed = {
    ...metered,
    admission,
    limits,
    mesh,
    interceptors,
    cors: gateway.cors ?? [],
    development: init.mode === 'dev',
  }
  const hosted = await (service.kind === 'typed' ? hostTypedService!(service, typed) : hostProgram(service, metered))
  if (!isRawEntry(init.app)) raiseHeadLimits(hosted.server, limits.maxHeaderSize)
  const { index } = init.hosts.find(({ name }) => name === service.name)!
  const health = hasHealth(service) ? new ServiceHealth(service, hosted, parts) : undefined
  router.add(hosted, index, concurrency.endpointByLink(hosted, service, index))
  await health?.untilHealthy(service.startTimeout - (performance.now() - began))
  cells.state = 'serving'
  if (hosted.typed !== undefined) templates.add(service.name, contractRoutes(hosted.typed))
  // Before others call it.
  templates.flush()
  const { typed: host, listener } = hosted
  const [topics, queued] = [host?.events?.topics, host && queuedVersions(host.contract)]
  outbox.post({ type: 'started', service: service.name, path: listener?.path, topics, queued })
  return { hosted, health }
}

function hasHealth(service: Service): service is Service & { readonly health: HealthCheck } {
  return service.health !== undefined
}

/** The paths of a typed service: those of its contract, and `POST /<method>`. */
function contractRoutes({ name, contract }: TypedHost): readonly string[] {
  return Object.entries(contract.methods).flatMap(([method, spec]) => {
    const whole = pathOf(name, method, spec)
    return spec.http === undefined ? [`POST /${method}`, whole] : [whole]
  })
}
