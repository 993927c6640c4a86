import type { AppStatus, ClusterMemberStats, RemoteHostStats } from '../../observe/app-status.ts'
import { alignColumns } from './columns.ts'
import { type Output, paint } from './terminal.ts'
import { numberText, spanText } from './units.ts'

const heads = ['remote service', 'host', 'state', 'version', 'contract', 'links', 'load', 'in flight', 'last seen']

/** A table of the services of other apps and their hosts. No lines without any. */
export function remoteLines({ remotes }: AppStatus, out: Output): string[] {
  const rows = remotes.flatMap(({ service, hosts }) => {
    const name = paint(out, 'bold', service)
    if (hosts.length === 0) return [[name, '–', paint(out, 'red', 'no host'), '–', '–', '0', '–', '0', '–']]
    return hosts.map((host) => [name, ...rowOf(host, out)])
  })
  const reasons = new Set(remotes.flatMap(({ hosts }) => hosts.flatMap(({ why }) => why ?? [])))
  if (rows.length === 0) return []
  const table = alignColumns([heads.map((head) => paint(out, 'dim', head)), ...rows])
  return [...table, ...[...reasons].map((why) => paint(out, 'red', why))]
}

const memberHeads = ['host', 'machine', 'app', 'version', 'service', 'contract', 'load', 'last seen']

/** The other hosts of the cluster. No lines without a cluster. */
export function clusterLines({ cluster }: AppStatus, out: Output): string[] {
  if (cluster === null) return []
  const { name, host, members, fault } = cluster
  const title = `cluster ${paint(out, 'bold', name)} ${paint(out, 'dim', `this app is host ${host}`)}`
  const rows = members.flatMap((member) => memberRows(member))
  return [
    title,
    ...(fault === null ? [] : [paint(out, 'red', fault)]),
    ...(rows.length === 0
      ? ['no other host']
      : alignColumns([memberHeads.map((head) => paint(out, 'dim', head)), ...rows])),
  ]
}

function memberRows({ host, machine, app, version, services, silentFor }: ClusterMemberStats): string[][] {
  const about = [host, machine, app, version ?? '–']
  if (services.length === 0) return [[...about, '–', '–', '–', spanText(silentFor)]]
  return services.map(({ service, contract, load }) => [
    ...about,
    service,
    contract ?? '–',
    numberText(load),
    spanText(silentFor),
  ])
}

function rowOf(
  { host, state, why, version, contract, links, load, inFlight, silentFor }: RemoteHostStats,
  out: Output,
) {
  return [
    host,
    paint(out, state === 'linked' && why === null ? 'green' : 'red', state),
    version ?? '–',
    contract ?? '–',
    `${links}`,
    load === null ? '–' : numberText(load),
    numberText(inFlight),
    silentFor === null ? '–' : spanText(silentFor),
  ]
}
