/**
 * Moleculer, which is installed only to be measured:
 * `npm install --prefix <folder> --ignore-scripts moleculer@0.15.2 nats@2.29.3`
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Call } from './rate.ts'
import { order } from './rate.ts'

interface Broker {
  createService(service: object): unknown
  start(): Promise<void>
  stop(): Promise<void>
  waitForServices(name: string): Promise<unknown>
  call(action: string, input: unknown): Promise<unknown>
}

/** `packages`: the folder in which it is installed. */
export async function serveByMoleculer(packages: string, nats: number): Promise<void> {
  const broker = brokerOf(packages, nats, 'far')
  const write = ({ params }: { params: unknown }): object => ({ at: 'far', input: params })
  broker.createService({ name: 'shop', actions: { write } })
  await broker.start()
}

export async function callByMoleculer(packages: string, nats: number): Promise<Call> {
  const broker = brokerOf(packages, nats, 'near')
  await broker.start()
  await broker.waitForServices('shop')
  return () => broker.call('shop.write', order)
}

function brokerOf(packages: string, nats: number, nodeID: string): Broker {
  const require = createRequire(join(packages, 'package.json'))
  const { ServiceBroker } = require('moleculer') as { ServiceBroker: new (options: object) => Broker }
  return new ServiceBroker({ nodeID, logger: false, transporter: `nats://127.0.0.1:${nats}` })
}
