import { createServer } from 'node:http'
import { client } from '../../../contract/client/client.ts'
import { atATime, cpuTime, type MeasuredCalls, type ProcessorTime } from '../payload.ts'
import { typed } from '../typed/contract.ts'

const typedClient = client(typed)

interface Way {
  call(bytes: number): Promise<unknown>
  cpu(isProcess: boolean): Promise<number>
}

const ways: Readonly<Record<string, Way>> = {
  http: {
    call: async (bytes) => await (await fetch(`http://program.internal/${bytes}`)).text(),
    cpu: async (isProcess) =>
      Number(await (await fetch(`http://program.internal/cpu/${isProcess ? 'process' : 'thread'}`)).text()),
  },
  rpc: {
    call: (bytes) => typedClient.get(bytes),
    cpu: (isProcess) => typedClient.cpu(isProcess),
  },
}

/** Milliseconds: until the code is optimised, of each latency, of each processor time. */
const times = { warmUp: 300, latency: 40, cpu: 50 }
/** Other processes only make calls more expensive. So the cheapest of several rounds counts. */
const rounds = 5

/** `/http/100/thread`: how, bytes, and the extent of what is measured. */
createServer((request, response) => {
  const [, how, bytes, extent] = request.url!.split('/')
  measure(ways[how!]!, Number(bytes), extent === 'process').then(
    (measured) => response.end(JSON.stringify(measured)),
    (error: unknown) => response.writeHead(500).end(String(error)),
  )
}).listen(3000)

async function measure(way: Way, bytes: number, isProcess: boolean): Promise<MeasuredCalls> {
  await callFor(way, bytes, atATime, times.warmUp)
  let [latency, alone, together] = [Infinity, unknown, unknown]
  for (let round = 0; round < rounds; round++) {
    latency = Math.min(latency, await latencyOf(way, bytes))
    alone = cheaper(alone, await cpuOf(way, bytes, 1, isProcess))
    together = cheaper(together, await cpuOf(way, bytes, atATime, isProcess))
  }
  return { latency, alone, together }
}

const unknown: ProcessorTime = { caller: Infinity, callee: Infinity }

function cheaper(one: ProcessorTime, other: ProcessorTime): ProcessorTime {
  return other.caller + other.callee < one.caller + one.callee ? other : one
}

async function cpuOf(way: Way, bytes: number, count: number, isProcess: boolean): Promise<ProcessorTime> {
  const before = { caller: cpuTime(isProcess), callee: await way.cpu(isProcess) }
  const calls = await callFor(way, bytes, count, times.cpu)
  const caller = (cpuTime(isProcess) - before.caller) / calls
  return { caller, callee: ((await way.cpu(isProcess)) - before.callee) / calls }
}

/** The median of calls that are made one after the other. */
async function latencyOf(way: Way, bytes: number): Promise<number> {
  const durations: number[] = []
  for (const end = performance.now() + times.latency; performance.now() < end;) {
    const began = performance.now()
    await way.call(bytes)
    durations.push(performance.now() - began)
  }
  return durations.toSorted((one, other) => one - other)[durations.length >> 1]!
}

/** Returns how many calls were made, `count` at a time. */
async function callFor(way: Way, bytes: number, count: number, milliseconds: number): Promise<number> {
  const end = performance.now() + milliseconds
  let calls = 0
  const chain = async (): Promise<void> => {
    while (performance.now() < end) {
      await way.call(bytes)
      // A call within the thread may never leave the queue of microtasks.
      if (calls++ % 64 === 0) await new Promise(setImmediate)
    }
  }
  await Promise.all(Array.from({ length: count }, chain))
  return calls
}
