/** Containers reach each other by names that no other program of the machine knows. */
import { toServiceName } from '../../../config/services/service-name.ts'

/** Names of the services of a Compose file. */
export interface ComposeNames {
  readonly all: ReadonlySet<string>
  /** Those that become services here. */
  readonly hosted: ReadonlySet<string>
}

/** Variables whose whole value is a host. The user and the database often have that name, too. */
const namesHost = /HOST|URL|URI|ADDR|SERVER|BROKER|ENDPOINT|SERVICE|NODE|DSN|CONNECTION/i

const hosts = /(?<=^|\/\/|@|,)([\w-]+)(:\d+)?(?=[/?#,]|$)/g

/** What to write into variables that name containers. Undefined: none does. */
export function containerHostsNote(env: Readonly<Record<string, string>>, names: ComposeNames): string | undefined {
  const found = Object.entries(env).flatMap(([variable, value]) =>
    [...value.matchAll(hosts)]
      .filter(([text, host]) => names.all.has(host!) && (text !== value || text !== host || namesHost.test(variable)))
      .map(([, host]) => ({ variable, host: host! })),
  )
  const sentences = [...Map.groupBy(found, ({ host }) => host)].map(([host, same]) => {
    const variables = [...new Set(same.map(({ variable }) => variable))].join(', ')
    const instead = names.hosted.has(host) ? `${toServiceName(host)}.internal` : 'localhost and its published port'
    return `${variables}: no host of this machine is called ${host}, write ${instead}`
  })
  return sentences.length === 0 ? undefined : sentences.join('; ')
}
