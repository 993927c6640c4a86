import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { it } from 'node:test'
import { PendingTransfers } from '../../../src/supervisor/runtimes/pending-transfers.ts'

/** Transfers of five connections. `sent`: their ids; `returned`: which of the five came back. */
function fiveTransfers() {
  const sent: number[] = []
  const returned: number[] = []
  const sockets = Array.from({ length: 5 }, () => new Socket())
  const transfers = new PendingTransfers({
    send: (message) => void (message.type === 'connectionHandle' && sent.push(message.id)),
    returned: (_, socket) => void returned.push(sockets.indexOf(socket)),
  })
  for (const socket of sockets) assert.equal(transfers.add('gateway', socket), 'taken')
  return { transfers, sockets, sent, returned }
}

it('sends a process a few connections at a time, so that other messages do not wait behind all', () => {
  const { transfers, sockets, sent, returned } = fiveTransfers()
  assert.deepEqual(sent, [0, 1])
  transfers.settle(0, true)
  assert.deepEqual([sent, sockets[0]!.destroyed], [[0, 1, 2], true])
  for (const id of [1, 2, 3, 4]) transfers.settle(id, true)
  assert.deepEqual([sent, returned], [[0, 1, 2, 3, 4], []])
})

it('gives back what a process that stops has not been sent, and what it does not take', () => {
  const { transfers, sent, returned } = fiveTransfers()
  transfers.returnWaiting()
  assert.deepEqual(returned, [2, 3, 4])
  transfers.settle(0, true)
  transfers.returnAll()
  assert.deepEqual(
    [sent, returned],
    [
      [0, 1],
      [2, 3, 4, 1],
    ],
  )
})

it('gives back all that a process without descriptors does not take', () => {
  const { transfers, returned } = fiveTransfers()
  transfers.settle(1, false)
  assert.deepEqual(returned, [0, 1, 2, 3, 4])
  assert.equal(transfers.add('gateway', new Socket()), 'full')
})
