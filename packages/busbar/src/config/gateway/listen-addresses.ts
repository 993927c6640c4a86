import type { ExportConfig } from '../../shared/hosts.ts'
import type { Address, Service, TlsFiles } from '../app.ts'
import type { Problems } from '../problems.ts'

interface Listener extends Address {
  /** The config key that opens it. */
  readonly key: string
}

interface AppAddresses {
  readonly gateway: GatewayAddress
  readonly admin: Address | undefined
  readonly exported: ExportConfig | undefined
}

/** Reports PORT_DUPLICATE for two ports of the app that cannot be open at the same time. */
export function checkPorts(
  { gateway, admin, exported }: AppAddresses,
  services: readonly Service[],
  problems: Problems,
): void {
  const listeners = listenersOf(gateway, services)
  if (admin !== undefined) listeners.push({ key: 'admin.port', host: admin.host, port: admin.port })
  if (exported !== undefined) listeners.push({ ...exported, key: `export.${exported.protocol}` })
  for (const [index, later] of listeners.entries()) {
    const earlier = listeners.slice(0, index).find((other) => collide(other, later))
    if (earlier === undefined) continue
    problems.add('PORT_DUPLICATE', {
      message: `port ${later.port} is configured twice, by ${earlier.key} and ${later.key}`,
      hint: 'Give one of them another port. With 0 the system chooses a free one.',
    })
  }
}

/** True if a URL, or a `host:port`, is an address on which the app itself listens. */
export function isOwnAddress(text: string, gateway: Address, services: readonly Service[]): boolean {
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `tcp://${text}`)
  if (url === null) return false
  const port = url.port === '' ? { 'http:': 80, 'https:': 443 }[url.protocol] : Number(url.port)
  const target = { host: url.hostname.replace(/^\[|\]$/g, ''), port: port ?? 0 }
  return listenersOf(gateway, services).some((listener) => collide(listener, target))
}

/** `tls`: with the port of its redirects. */
type GatewayAddress = Address & { readonly tls?: Pick<TlsFiles, 'redirect'> | undefined }

function listenersOf(gateway: GatewayAddress, services: readonly Service[]): Listener[] {
  return [
    { key: 'gateway.port', host: gateway.host, port: gateway.port },
    ...(gateway.tls?.redirect === undefined
      ? []
      : [{ key: 'gateway.tls.redirect', host: gateway.host, port: gateway.tls.redirect.port }]),
    ...services.flatMap(({ name, expose }) => expose.map((one) => ({ ...one, key: `services.${name}.expose` }))),
  ]
}

/** Port 0 never collides. A wildcard address collides with every host. */
function collide(one: Address, other: Address): boolean {
  if (one.port !== other.port || one.port === 0) return false
  const [a, b] = [plainHost(one.host), plainHost(other.host)]
  return a === b || a === anyHost || b === anyHost
}

const anyHost = '*'

function plainHost(host: string): string {
  const name = host.toLowerCase()
  if (name === '0.0.0.0' || name === '::') return anyHost
  return name === 'localhost' ? '127.0.0.1' : name
}
