/**
 * Calls between two processes, 64 in flight: as typed calls over TCP, mutual TLS and NATS, as HTTP
 * by undici over plain TCP, as HTTP of an unmodified program over mutual TLS, as raw requests of
 * the NATS client, as messages of that client with many calls in them, and by Moleculer. Each arm
 * has two processes of its own, which stay. Arms take turns. Ratios are of the same round; their
 * median is printed with the smallest and the largest.
 *
 * `node --conditions=busbar-source packages/busbar/bench/hosts/measure.ts [--rounds 9] [--seconds 2]
 * [--packages <folder with Moleculer>] [--arms tcp,nats,…]`
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { makeAuthority, makeCertificate } from '../../src/cli/certificates/make-certificate.ts'
import type { Identity } from '../../src/shared/hosts.ts'
import { NatsServer } from '../../test/cluster/support/nats-server.ts'
import { arms, type Setup } from './arms.ts'
import type { Order } from './end.ts'

/** What each arm is compared with. */
const against: Record<string, readonly string[]> = {
  tcp: ['undici'],
  'mutual tls': ['undici'],
  'http over tls in a program': ['undici in a program'],
  'http over tls by an own agent': ['undici in a program', 'undici without a limit in a program'],
  'http over tls by a limited agent': ['undici in a program'],
  nats: ['raw nats', 'batched nats', 'moleculer'],
  'batched nats': ['moleculer'],
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
const known = Object.keys(arms).filter((name) => name !== 'moleculer' || packages !== undefined)
const chosen = known.filter((name) => values.arms === undefined || values.arms.split(',').includes(name))
const setups = { serve: await setupOf('far'), open: await setupOf('near') }
const ends: ChildProcess[] = []
const callers: Record<string, ChildProcess> = {}
for (const name of chosen) {
  const [callee, caller] = [startEnd(), startEnd()]
  const port = await ask(callee, { serve: name, setup: setups.serve })
  await ask(caller, { open: name, setup: setups.open, port })
  callers[name] = caller
}

const rounds: Record<string, number>[] = []
for (let round = 0; round <= Number(values.rounds); round++) {
  const rates: Record<string, number> = {}
  const duration = round === 0 ? 1_000 : Number(values.seconds) * 1_000
  for (const name of chosen) rates[name] = await ask(callers[name]!, { measure: duration })
  // The first round warms up.
  if (round > 0) rounds.push(rates)
}
console.log(`load ${loadavg()[0]!.toFixed(1)}, ${rounds.length} rounds of ${values.seconds} s`)
for (const name of chosen) {
  const rate = Math.round(median(rounds.map((one) => one[name]!)))
  const ratios = (against[name] ?? []).filter((other) => chosen.includes(other)).map((other) => ratioOf(name, other))
  console.log([`${name}: ${rate} per second`, ...ratios].join(', '))
}
for (const end of ends) end.kill()
await nats[Symbol.asyncDispose]()
process.exit()

async function setupOf(name: string): Promise<Setup> {
  return { nats: nats.port, identity: await identity(name), packages }
}

function startEnd(): ChildProcess {
  const end = fork(new URL('end.ts', import.meta.url), { execArgv: ['--conditions=busbar-source'] })
  ends.push(end)
  return end
}

async function ask(end: ChildProcess, order: Order): Promise<number> {
  end.send(order)
  const [result] = (await once(end, 'message')) as [number]
  return result
}

function ratioOf(name: string, other: string): string {
  const ratios = rounds.map((one) => one[name]! / one[other]!).toSorted((a, b) => a - b)
  const [least, most] = [ratios[0]!, ratios.at(-1)!]
  return `${median(ratios).toFixed(2)} x ${other} (${least.toFixed(2)} to ${most.toFixed(2)})`
}

function median(list: readonly number[]): number {
  return list.toSorted((a, b) => a - b)[list.length >> 1]!
}
