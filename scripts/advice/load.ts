/** Clients that each wait for their answer before they ask again. */
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const clients = 8
/** Milliseconds until all clients are at work. */
const leadIn = 150

/** Answers per second, above 0. Rejects if a request fails. */
export async function rateOf(url: string, milliseconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true })
  let [answers, isOver] = [0, false]
  const client = async (): Promise<void> => {
    while (!isOver) {
      await answerOf(url, agent)
      answers++
    }
  }
  const all = Promise.all(Array.from({ length: clients }, client))
  const measure = async (): Promise<number> => {
    await sleep(leadIn)
    const [before, began] = [answers, performance.now()]
    await sleep(milliseconds)
    // On a busy machine there may be none, and ratios need a number.
    return (Math.max(0.5, answers - before) / (performance.now() - began)) * 1000
  }
  try {
    // The clients end before that only if one fails.
    return await Promise.race([measure(), all.then(() => 0)])
  } finally {
    isOver = true
    await all.finally(() => agent.destroy())
  }
}

/** Keeps the load up while `work` runs. */
export async function loaded<T>(url: string, work: Promise<T>): Promise<T> {
  let isOver = false
  const keepUp = async (): Promise<void> => {
    while (!isOver) await rateOf(url, 500)
  }
  const load = keepUp()
  try {
    return await Promise.race([work, load.then(() => work)])
  } finally {
    isOver = true
    await load
  }
}

async function answerOf(url: string, agent: Agent): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  get(url, { agent }, (response) => {
    const { statusCode } = response
    response.on('end', () => (statusCode === 200 ? resolve() : reject(new Error(`${url} answered ${statusCode}`))))
    response.on('error', reject).resume()
  }).on('error', reject)
  await promise
}
