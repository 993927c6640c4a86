/**
 * Three hosts in a process of their own, each of which answers one call at a time: in 2 ms, and in
 * the second half of a round one of them in 20 ms. 12 calls are in flight. How much does the 99th
 * percentile rise, with Busbar's choice by load over NATS and with the random choice of a queue
 * group of NATS?
 *
 * `node --conditions=busbar-source packages/busbar/bench/hosts/slow-host.ts [--rounds 5] [--seconds 3]`
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { connect } from '@nats-io/transport-node'
import { ClusterCaller, ClusterShop } from '../../test/cluster/support/cluster-shop.ts'
import { NatsServer } from '../../test/cluster/support/nats-server.ts'
import { Shop } from '../../test/hosts/support/shop.ts'
import type { Call } from './rate.ts'

const hosts = 3
const inFlight = 12
const [usual, slow] = [2, 20]

/** Orders of the measuring process: the port of NATS first, then how long the first host takes. */
if (process.send === undefined) await measure()
else process.once('message', (port: number) => void serve(port))

async function serve(port: number): Promise<void> {
  const lines = Array.from({ length: hosts }, () => new Line())
  const connection = await connect({ servers: `127.0.0.1:${port}` })
  for (const [at, line] of lines.entries()) {
    await ClusterShop.start(new OneAtATime(`host-${at}`, line), NatsServer.configOf(port))
    connection.subscribe('one', {
      queue: 'hosts',
      callback: (_, message) => void line.pass().then(() => message.respond('1')),
    })
  }
  process.on('message', (duration: number) => (lines[0]!.duration = duration))
  process.send!('ready')
}

/** Calls that wait for each other. */
class Line {
  duration = usual
  #last: Promise<void> = Promise.resolve()

  pass(): Promise<void> {
    return (this.#last = this.#last.then(() => new Promise((resolve) => setTimeout(resolve, this.duration))))
  }
}

class OneAtATime extends Shop {
  readonly #line: Line

  constructor(name: string, line: Line) {
    super(name)
    this.#line = line
  }

  protected override async act(): Promise<unknown> {
    await this.#line.pass()
    return 1
  }
}

async function measure(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '3' } },
  })
  await using nats = await NatsServer.start()
  const child = fork(import.meta.filename, { execArgv: ['--conditions=busbar-source'] })
  child.send(nats.port)
  await once(child, 'message')
  const caller = await ClusterCaller.open(nats.config(), hosts)
  const raw = await nats.connect()
  const arms: Record<string, Call> = {
    busbar: () => caller.shop.write(1),
    'nats, random': () => raw.request('one', '1', { timeout: 60_000 }),
  }
  const rises = new Map<string, number[]>(Object.keys(arms).map((name) => [name, []]))
  for (let round = 0; round < Number(values.rounds); round++)
    for (const [name, call] of Object.entries(arms)) {
      const before = await percentile(call, Number(values.seconds) * 1_000)
      child.send(slow)
      const after = await percentile(call, Number(values.seconds) * 1_000)
      child.send(usual)
      rises.get(name)!.push(after - before)
      console.log(`${name}: p99 ${before.toFixed(1)} ms, with a slow host ${after.toFixed(1)} ms`)
    }
  const [own, random] = [...rises.values()].map((list) => list.toSorted((a, b) => a - b)[list.length >> 1]!)
  console.log(
    `load ${loadavg()[0]!.toFixed(1)}: the rise is ${(own! / random!).toFixed(2)} of that with the random choice`,
  )
  child.kill()
  await caller[Symbol.asyncDispose]()
  // `process.exit` disposes nothing.
  await nats[Symbol.asyncDispose]()
  process.exit()
}

/** The 99th percentile of what calls take, in milliseconds. */
async function percentile(call: Call, duration: number): Promise<number> {
  const end = performance.now() + duration
  const times: number[] = []
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() < end) {
        const began = performance.now()
        await call()
        times.push(performance.now() - began)
      }
    }),
  )
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!
}
