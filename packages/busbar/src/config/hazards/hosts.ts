import type { AppHosts } from '../../shared/hosts.ts'
import type { Hazard } from './hazard.ts'

/** Links to other apps that anybody on the network can read, or open. */
export function findHostHazards({ export: exported, cluster }: AppHosts): Hazard[] {
  const hazards: Hazard[] = []
  if (exported?.protocol === 'tcp')
    hazards.push({
      code: 'EXPORT_UNENCRYPTED',
      services: exported.services,
      message: `export.tcp has no TLS: whoever reaches ${exported.host}:${exported.port} may call ${exported.services.join(', ')}`,
      hint: 'Write export.tls; busbar cert makes the certificates.',
    })
  const open = cluster?.tls === undefined ? (cluster?.servers ?? []).filter((server) => !isLoopback(server)) : []
  if (open.length > 0)
    hazards.push({
      code: 'CLUSTER_UNENCRYPTED',
      services: cluster!.services,
      message: `cluster.nats has no TLS: calls through ${open.join(', ')} can be read on their way`,
      hint: "Write 'tls://' instead of 'nats://', unless the network encrypts.",
    })
  return hazards
}

function isLoopback(server: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]):\d+$/.test(server)
}
