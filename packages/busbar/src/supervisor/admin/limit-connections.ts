/** How many connections an admin listener has. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { descriptorsLeft } from '../../shared/process/descriptors.ts'

/**
 * Connections above the limit for a moment. A client with many requests at once opens one for each,
 * all of them before the first request is read.
 */
const mostExtra = 480

/** Of the free descriptors, one in so many is for them. */
const extraShare = 4

/** Milliseconds between two looks at them. */
const interval = 500

/**
 * Looks after which a connection without a request has to go. They are counted in place of the
 * time: after a pause of the whole process, requests that have come meanwhile are read before the
 * next look.
 */
const patience = 6

/**
 * Scrapers keep one connection each. Clients that leak connections must not take all descriptors,
 * and must not keep probes out. Above the limit a connection ends with its answer, or when it has
 * been without a request for a while. Only when even the extra ones are taken, the oldest one
 * without a request has to make room at once.
 */
export function limitConnections(server: Server, limit: number): void {
  /** How many requests of each are not answered yet. */
  const open = new Map<Socket, number>()
  /** Since which look they have had no request, oldest first. */
  const idle = new Map<Socket, number>()
  let looks = 0
  let looking: NodeJS.Timeout | undefined

  const forget = (socket: Socket): void => {
    open.delete(socket)
    idle.delete(socket)
    if (open.size > limit) return
    clearInterval(looking)
    looking = undefined
  }
  const end = (socket: Socket): void => {
    // Its `close` comes later.
    forget(socket)
    socket.destroy()
  }
  const look = (): void => {
    looks++
    for (const [socket, since] of idle) {
      if (open.size <= limit || looks - since <= patience) return
      end(socket)
    }
  }
  server.on('connection', (socket: Socket) => {
    socket.once('close', () => forget(socket))
    const extra = open.size - limit
    if (extra >= mostExtra || (extra >= 0 && extra >= descriptorsLeft() / extraShare)) {
      const [oldest = socket] = idle.keys()
      end(oldest)
      if (oldest === socket) return
    }
    open.set(socket, 0)
    idle.set(socket, looks)
    if (open.size > limit) looking ??= setInterval(look, interval).unref()
  })
  server.on('request', ({ socket }, res) => {
    const pending = open.get(socket)
    if (pending === undefined) return
    open.set(socket, pending + 1)
    idle.delete(socket)
    if (open.size > limit && !res.headersSent) res.setHeader('connection', 'close')
    res.once('close', () => {
      const left = open.get(socket)
      if (left === undefined) return
      open.set(socket, left - 1)
      if (left === 1) idle.set(socket, looks)
    })
  })
}
