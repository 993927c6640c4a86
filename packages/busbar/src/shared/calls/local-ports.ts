/** Ports of this machine that stand for a service when the app calls them. */
export type LocalPorts = Readonly<Record<number, string>>

export const noLocalPorts: LocalPorts = {}

export function localPortsOf(
  services: Iterable<{ readonly name: string; readonly localhost?: readonly number[] | undefined }>,
): LocalPorts {
  return Object.fromEntries([...services].flatMap(({ name, localhost = [] }) => localhost.map((port) => [port, name])))
}

const loopback = /^(?:localhost|127\.0\.0\.1|\[?::1\]?)$/i

/** The service that an address of this machine stands for. Undefined for every other address. */
export function serviceAtPort(ports: LocalPorts, host: string, port: number): string | undefined {
  const service = ports[port]
  return service !== undefined && isLocalhost(host) ? service : undefined
}

/** Names of this machine whose ports stand for services. */
export function isLocalhost(host: string): boolean {
  return loopback.test(host)
}
