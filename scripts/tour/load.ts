/** The load of the tour, in a thread of its own: requests at a fixed rate over kept connections. */
import { Agent, request } from 'node:http'
import { parentPort, Worker, workerData } from 'node:worker_threads'

/** What the load has seen since the last report. */
export interface LoadReport {
  readonly done: number
  readonly failures: readonly string[]
  /** Milliseconds from when each request was due: a late one counts as slow. */
  readonly latencies: readonly number[]
}

export interface LoadTarget {
  readonly url: string
  /** Requests per second. */
  readonly rate: number
  readonly connections: number
}

const reportInterval = 250
const requestTimeout = 10_000

/** Starts the load. `report` is called several times a second until `stop()` has resolved. */
export function startLoad(target: LoadTarget, report: (report: LoadReport) => void): { stop: () => Promise<unknown> } {
  const worker = new Worker(new URL(import.meta.url), { workerData: target })
  worker.on('message', report)
  return { stop: () => worker.terminate() }
}

if (parentPort !== null) generate(workerData as LoadTarget)

function generate({ url, rate, connections }: LoadTarget): void {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let done = 0
  let failures: string[] = []
  let latencies: number[] = []
  const finish = (due: number, failure?: string): void => {
    done++
    if (failure === undefined) latencies.push(performance.now() - due)
    else failures.push(failure)
  }
  const send = (due: number): void => {
    const sent = request(url, { agent, timeout: requestTimeout }, (response) => {
      response
        .resume()
        .on('end', () => finish(due, response.statusCode === 200 ? undefined : `status ${response.statusCode}`))
        .on('error', (error) => finish(due, error.message))
    })
    sent
      .on('timeout', () => sent.destroy(new Error(`no answer within ${requestTimeout} ms`)))
      .on('error', (error) => finish(due, error.message))
      .end()
  }
  const began = performance.now()
  let sent = 0
  setInterval(() => {
    const due = Math.floor(((performance.now() - began) / 1000) * rate)
    for (; sent < due; sent++) send(began + (sent * 1000) / rate)
  }, 2)
  setInterval(() => {
    parentPort!.postMessage({ done, failures, latencies } satisfies LoadReport)
    ;[done, failures, latencies] = [0, [], []]
  }, reportInterval)
}
