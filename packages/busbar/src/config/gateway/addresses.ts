import type { Address, Service } from '../app.ts'
import type { Problems } from '../problems.ts'

interface Listener extends Address {
  /** The key that asks for it. */
  readonly key: string
}

/** Every port that the app opens; PORT_DUPLICATE where two could not be open at once. */
export function checkPorts(
  { gateway, admin }: { readonly gateway: Address; readonly admin: Address | undefined },
  services: readonly Service[],
  problems: Problems,
): void {
  const listeners = listenersOf(gateway, services)
  if (admin !== undefined) listeners.push({ key: 'admin.port', host: admin.host, port: admin.port })
  for (const [index, later] of listeners.entries()) {
    const earlier = listeners.slice(0, index).find((other) => collide(other, later))
    if (earlier === undefined) continue
    problems.add('PORT_DUPLICATE', {
      message: `port ${later.port} is asked for twice, by ${earlier.key} and ${later.key}`,
      hint: 'Give one of them another port; 0 asks the system for a free one.',
    })
  }
}

/** Whether a URL, or a `host:port`, is an address at which the app itself answers. */
export function isOwnAddress(text: string, gateway: Address, services: readonly Service[]): boolean {
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `tcp://${text}`)
  if (url === null) return false
  const port = url.port === '' ? { 'http:': 80, 'https:': 443 }[url.protocol] : Number(url.port)
  const target = { host: url.hostname.replace(/^\[|\]$/g, ''), port: port ?? 0 }
  return listenersOf(gateway, services).some((listener) => collide(listener, target))
}

function listenersOf(gateway: Address, services: readonly Service[]): Listener[] {
  return [
    { key: 'gateway.port', host: gateway.host, port: gateway.port },
    ...services.flatMap(({ name, expose }) => expose.map((one) => ({ ...one, key: `services.${name}.expose` }))),
  ]
}

/** Port 0 is a different one each time; an address for all hosts takes the port of each. */
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
