/**
 * Calls between two processes, 64 in flight: as typed calls over TCP, mutual TLS and NATS, as HTTP
 * by undici over plain TCP, as HTTP of an unmodified program over mutual TLS, as raw requests of
 * the NATS client, and by Moleculer. Arms take turns. Ratios are of the same round; their median is
 * printed with the smallest and the largest.
 *
 * `node --conditions=busbar-source packages/busbar/bench/hosts/measure.ts [--rounds 9] [--seconds 2]
 * [--packages <folder with Moleculer>] [--arms tcp,nats,…]`
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { makeAuthority, makeCertificate } from '../../src/cli/certificates/make-certificate.ts'
import type { Identity } from '../../src/shared/hosts.ts'
import { NatsServer } from '../../test/cluster/support/nats-server.ts'
import { openArms } from './arms.ts'
import type { Ports, Setup } from './callee.ts'

/** What each arm is compared with. */
const against: Record<string, readonly string[]> = {
  tcp: ['undici'],
  'mutual tls': ['undici'],
  'http over tls in a program': ['undici in a program'],
  'http over tls by an own agent': ['undici in a program'],
  nats: ['raw nats', 'moleculer'],
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    packages: { type: 'string' },
    arms: { type: 'string' },
  },
})
const { packages } = values
const ca = await makeAuthority()
const identity = async (name: string): Promise<Identity> => {
  return { ...(await makeCertificate({ name, hosts: ['127.0.0.1'], days: 1 }, ca)), ca: ca.cert }
}
await using nats = await NatsServer.start()
const child = fork(new URL('callee.ts', import.meta.url), { execArgv: ['--conditions=busbar-source'] })
child.send({ nats: nats.port, identity: await identity('far'), packages } satisfies Setup)
const [ports] = (await once(child, 'message')) as [Ports]
const all = await openArms({ ports, nats: nats.port, identity: await identity('near'), packages })
const chosen = values.arms?.split(',') ?? Object.keys(all)
const arms = Object.fromEntries(Object.entries(all).filter(([name]) => chosen.includes(name)))

const rounds: Record<string, number>[] = []
for (let round = 0; round <= Number(values.rounds); round++) {
  const rates: Record<string, number> = {}
  const duration = round === 0 ? 1_000 : Number(values.seconds) * 1_000
  for (const [name, arm] of Object.entries(arms)) rates[name] = await arm(duration)
  // The first round warms up.
  if (round > 0) rounds.push(rates)
}
console.log(`load ${loadavg()[0]!.toFixed(1)}, ${rounds.length} rounds of ${values.seconds} s`)
for (const name of Object.keys(arms)) {
  const rate = Math.round(median(rounds.map((one) => one[name]!)))
  const ratios = (against[name] ?? []).filter((other) => other in arms).map((other) => ratioOf(name, other))
  console.log([`${name}: ${rate} per second`, ...ratios].join(', '))
}
child.kill()
await nats[Symbol.asyncDispose]()
process.exit()

function ratioOf(name: string, other: string): string {
  const ratios = rounds.map((one) => one[name]! / one[other]!).toSorted((a, b) => a - b)
  const [least, most] = [ratios[0]!, ratios.at(-1)!]
  return `${median(ratios).toFixed(2)} x ${other} (${least.toFixed(2)} to ${most.toFixed(2)})`
}

function median(list: readonly number[]): number {
  return list.toSorted((a, b) => a - b)[list.length >> 1]!
}
