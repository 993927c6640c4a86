import type { GatewayParts, Gateway } from '../../gateway/gateway.ts'
import { createGateway } from '../../gateway/gateway.ts'
import type { GrpcEntrance } from '../../gateway/grpc/grpc-entrance.ts'
import { Probes } from '../../gateway/probes.ts'
import type { Readiness, TlsMaterial, WorkerInit } from '../../shared/control-messages.ts'
import type { Router } from '../../mesh/routing/router.ts'
import type { WorkerCells } from '../../shared/metrics/worker-cells.ts'
import type { Attachments } from '../accelerators.ts'
import type { Metering } from '../reporting/metering.ts'
import type { Outbox } from '../reporting/outbox.ts'

/** Parts of the worker that the gateway uses. */
export interface GatewayNeeds {
  readonly init: WorkerInit
  readonly router: Router
  readonly cells: WorkerCells
  readonly metering: Metering
  readonly outbox: Outbox
  readonly attachments: Attachments
}

/** What of the worker's state the gateway asks for. */
export interface GatewayState {
  readonly tls: TlsMaterial | undefined
  readonly readiness: () => Readiness
}

/**
 * The gateway of this worker. Rejects if a contract has no protobuf form, and the app serves gRPC.
 */
export async function openGateway(parts: GatewayNeeds, { tls, readiness }: GatewayState): Promise<Gateway> {
  const { init, router, cells, metering, outbox, attachments } = parts
  const { exchange: exchanges, stream: streams, handover } = attachments
  const log: GatewayParts['log'] = (level, line) =>
    outbox.log({ time: Date.now(), level, service: undefined, stream: 'busbar', line })
  // `Listeners` counts closed connections, also for services that are reached without the gateway.
  const counts = { addInFlight: (by: 1 | -1) => cells.addInFlight(by), countClosed: () => {} }
  return createGateway({
    app: init.app,
    router,
    tls,
    log,
    cells: counts,
    refusals: metering.refusals,
    meter: metering.meter,
    tracer: metering.tracer,
    exchanges,
    handover,
    streams,
    probes: init.app.gateway.probes === true ? new Probes(init.app, readiness) : undefined,
    grpc: init.app.gateway.grpc && (await openGrpc(parts, counts.addInFlight)),
  })
}

/** Loaded only where it is used: a worker without gRPC starts faster. */
async function openGrpc(
  { init: { app }, router, metering }: GatewayNeeds,
  onCount: (by: 1 | -1) => void,
): Promise<GrpcEntrance> {
  const [{ GrpcEntrance }, { loadProtoServices }] = await Promise.all([
    import('../../gateway/grpc/grpc-entrance.ts'),
    import('../../config/contracts/load-contracts.ts'),
  ])
  const { meter, tracer } = metering
  const mesh = { router, maxHops: app.limits.maxHops, validate: app.validate, meter, tracer }
  return new GrpcEntrance({ app, mesh, onCount, services: await loadProtoServices(app) })
}
