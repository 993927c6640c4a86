/**
 * The least that calls over NATS have to do: all calls of a turn are one message of the client, as
 * JSON, and so are their answers. There are no links, deadlines, checks and counts.
 */
import { connect } from '@nats-io/transport-node'
import type { Call } from './rate.ts'

type Entry = readonly [id: number, value: unknown]

export async function serveBatched(nats: number): Promise<void> {
  const connection = await connect({ servers: `127.0.0.1:${nats}` })
  const write = async (input: unknown): Promise<unknown> => ({ at: 'far', input })
  const send = batches((text) => connection.publish('batched.answers', text))
  connection.subscribe('batched.calls', {
    callback: (_, message) => {
      for (const [id, input] of message.json<Entry[]>()) void write(input).then((answer) => send([id, answer]))
    },
  })
}

export async function callBatched(nats: number, input: unknown): Promise<Call> {
  const connection = await connect({ servers: `127.0.0.1:${nats}` })
  const open = new Map<number, (answer: unknown) => void>()
  const send = batches((text) => connection.publish('batched.calls', text))
  let last = 0
  connection.subscribe('batched.answers', {
    callback: (_, message) => {
      for (const [id, answer] of message.json<Entry[]>()) {
        open.get(id)!(answer)
        open.delete(id)
      }
    },
  })
  await connection.flush()
  return () =>
    new Promise((resolve) => {
      open.set(++last, resolve)
      send([last, input])
    })
}

/** Publishes the entries of a tick as one text. */
function batches(publish: (text: string) => void): (entry: Entry) => void {
  let batch: Entry[] = []
  return (entry) => {
    if (batch.push(entry) > 1) return
    process.nextTick(() => {
      publish(JSON.stringify(batch))
      batch = []
    })
  }
}
