import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { shortTurn } from '../../src/shared/time/short-turn.ts'

test('what arrives while a handler is busy is read before a short turn', async () => {
  await using listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  using first = await pairOf(listener)
  using second = await pairOf(listener)
  let isRead = false
  second.reader.on('data', () => (isRead = true))
  first.reader.on('data', () => {
    second.writer.write('request')
    for (const began = performance.now(); performance.now() - began < 50;);
  })
  await nextTurn()
  first.writer.write('request')
  await shortTurn()
  assert.equal(isRead, true)
})

test('a short turn is not waited for without end', async () => {
  let isBusy = true
  const keepBusy = (): void => {
    for (const began = performance.now(); performance.now() - began < 10;);
    if (isBusy) setImmediate(keepBusy)
  }
  keepBusy()
  await shortTurn(50)
  isBusy = false
})

interface Pair extends Disposable {
  readonly reader: Socket
  readonly writer: Socket
}

async function pairOf(listener: ReturnType<typeof createServer>): Promise<Pair> {
  const writer = connect((listener.address() as AddressInfo).port, '127.0.0.1').setNoDelay(true)
  const [reader] = (await once(listener, 'connection')) as [Socket]
  return {
    reader,
    writer,
    [Symbol.dispose]() {
      reader.destroy()
      writer.destroy()
    },
  }
}
