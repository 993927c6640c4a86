/**
 * Workers that end, again and again, behind the entrance:
 * `node --conditions=busbar-source scripts/entrance/attack/worker-deaths.ts [--restarts 1000] [--requests 1000] [--at-once 4] [--seconds 170]`
 *
 * 1. That many workers are started and terminated, some at once, while clients ask, for at most so
 *    many seconds. Prints the answers, and the memory of the process on the way. Fails if a request
 *    was lost, or if the memory grows from the middle of the run to its end.
 * 2. So many requests are queued to a worker that loops, which is then terminated. Another worker
 *    must answer every one that was not marked.
 */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { parseArgs } from 'node:util'
import { Client, Served } from '../../../packages/busbar/test/entrance/served.ts'

const { values } = parseArgs({
  options: {
    restarts: { type: 'string', default: '1000' },
    requests: { type: 'string', default: '1000' },
    'at-once': { type: 'string', default: '4' },
    seconds: { type: 'string', default: '170' },
  },
})

/** Growth of the memory over the second half of the restarts that is within its own variation. */
const tolerated = 1.05

await restartUnderLoad(Number(values.restarts), Number(values['at-once']), Number(values.seconds))
await terminateWithQueue(Number(values.requests))

async function restartUnderLoad(restarts: number, atOnce: number, seconds: number): Promise<void> {
  await using served = await Served.start({ workers: atOnce + 1 })
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const answers = new Map<string, number>()
  let isOver = false
  const ask = async (): Promise<void> => {
    while (!isOver) {
      const answer = await statusOf(served.port, agent)
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
  const clients = Array.from({ length: 4 }, ask)
  const limit = performance.now() + seconds * 1000
  const memory: number[] = []
  let done = 0
  for (let next = 0; done < restarts && performance.now() < limit; done += atOnce) {
    const dying = served.workers.splice(0, atOnce)
    await Promise.all(dying.map(() => served.addWorker()))
    await Promise.all(dying.map((worker) => worker.terminate()))
    if (done < next) continue
    next += restarts / 20
    memory.push(proportionalMemory())
    console.log(`${done + atOnce} restarts: ${memory.at(-1)} MB PSS, ${threadCount()} threads`)
  }
  isOver = true
  await Promise.all(clients)
  agent.destroy()
  const middle = memory.slice(memory.length / 4, memory.length / 2)
  const end = memory.slice(-Math.ceil(memory.length / 4))
  const growth = median(end) / median(middle)
  const stats = served.native.stats()
  console.log(`${done} restarts; the memory grows by a factor of ${growth.toFixed(3)} in the second half`)
  console.log(`answers: ${JSON.stringify(Object.fromEntries(answers))}; ${JSON.stringify(stats)}`)
  const isLost = [...answers.keys()].some((answer) => answer !== '200')
  if (isLost || growth > tolerated || stats['workers'] !== atOnce + 1) process.exitCode = 1
}

async function terminateWithQueue(requests: number): Promise<void> {
  await using served = await Served.start({ workers: 1 })
  const looping = new Client(served.port).send(post('/loop'))
  await new Promise((resolve) => setTimeout(resolve, 300))
  // It is begun, so it gets a 502.
  const clients = Array.from({ length: requests }, () => new Client(served.port).send(post('/thread')))
  while (served.native.stats()['in_flight']! < requests + 1) await new Promise((resolve) => setTimeout(resolve, 20))
  const [dying] = served.workers.splice(0, 1)
  await served.addWorker()
  await dying!.terminate()
  await Promise.all(clients.map((client) => client.until('\r\n\r\n')))
  const counts = Map.groupBy(clients, ({ bytes }) => bytes.slice(9, 12))
  for (const [status, all] of counts) console.log(`queued to a worker that was terminated: ${status}: ${all.length}`)
  await looping.closed
  console.log(`the one that was begun: ${looping.bytes.slice(9, 12)}`)
  for (const { socket } of clients) socket.destroy()
  console.log(JSON.stringify(served.native.stats()))
}

function post(path: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`
}

function statusOf(port: number, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const sent = request({ port, host: '127.0.0.1', path: '/thread', agent }, (response) => {
      response.resume().on('end', () => resolve(String(response.statusCode)))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message)).end()
  })
}

/** In megabytes. */
function proportionalMemory(): number {
  const pss = Number(/^Pss:\s+(\d+)/m.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))?.[1])
  return Math.round(pss / 1024)
}

function threadCount(): number {
  return Number(/^Threads:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
}

function median(all: readonly number[]): number {
  return all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)] ?? Number.NaN
}
