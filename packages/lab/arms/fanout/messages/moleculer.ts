/** Services of Moleculer that call each other over its NATS transporter. */
import { loadPeerPackage } from '../../peer-package.ts'
import type { Call } from '../clients.ts'
import { live, type Content } from './live.ts'

interface Broker {
  createService(service: object): unknown
  start(): Promise<void>
  waitForServices(names: readonly string[]): Promise<unknown>
  call(action: string): Promise<unknown>
}

/**
 * Seconds. The lab freezes an arm while others are measured, and the usual 30 would have passed
 * when it goes on.
 */
const heartbeatTimeout = 24 * 60 * 60

export async function serveByMoleculer(names: readonly string[], servers: string): Promise<void> {
  const broker = brokerOf('far', servers)
  for (const name of names) broker.createService({ name, actions: { live: async () => live() } })
  await broker.start()
}

export async function callByMoleculer(names: readonly string[], servers: string): Promise<Call[]> {
  const broker = brokerOf('near', servers)
  await broker.start()
  await broker.waitForServices(names)
  return names.map((name) => async () => ((await broker.call(`${name}.live`)) as Content).content.length > 0)
}

function brokerOf(nodeID: string, servers: string): Broker {
  const { ServiceBroker } = loadPeerPackage('moleculer') as { ServiceBroker: new (options: object) => Broker }
  return new ServiceBroker({ nodeID, logger: false, transporter: servers, heartbeatTimeout })
}
