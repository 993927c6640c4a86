import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** What happens to bytes on their way. */
export interface Weather {
  /** Milliseconds. */
  readonly delay: number
  /** Bytes per second in each direction of each connection. */
  readonly rate: number
}

export const fair: Weather = { delay: 0, rate: Infinity }

/** Milliseconds between two parts of what passes at a limited rate. */
const tick = 10

/** A proxy between two apps that can break what passes through it. */
export class FaultProxy implements AsyncDisposable {
  #target: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Ends towards the target. */
  readonly #far = new Set<Socket>()
  isFrozen = false
  /** Connections that were opened through it. */
  opened = 0
  weather: Weather = fair
  /** Once this has passed, it freezes. */
  freezeAfter: string | undefined

  private constructor(target: number) {
    this.#target = target
    this.#server = createServer({ allowHalfOpen: true }, (near) => this.#accept(near))
  }

  /** `target`: a port of this machine. */
  static async open(target: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(target)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** New connections lead there. */
  retarget(port: number): void {
    this.#target = port
  }

  /** Resets every connection. New ones are accepted. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  /** Passes nothing on, as if a cable were unplugged: both sides see an open connection. */
  freeze(): void {
    this.isFrozen = true
    for (const socket of this.#sockets) socket.pause()
  }

  thaw(): void {
    this.isFrozen = false
    for (const socket of this.#sockets) socket.resume()
  }

  /**
   * The target loses its connections. The other side keeps them and hears nothing, as from a
   * machine that has lost power.
   */
  halfOpen(): void {
    for (const far of this.#far) {
      far.removeAllListeners('close')
      far.once('close', () => this.#sockets.delete(far))
      far.resetAndDestroy()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await once(this.#server, 'close')
  }

  #accept(near: Socket): void {
    this.opened++
    const far = connect({ host: '127.0.0.1', port: this.#target, allowHalfOpen: true })
    this.#far.add(far)
    far.once('close', () => this.#far.delete(far))
    this.#join(near, far)
    this.#join(far, near)
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from)
    const way = new Way(to, () => this.weather)
    from.on('data', (bytes) => {
      const { rate } = this.weather
      if (rate !== Infinity) from.pause()
      way.add(bytes, () => this.isFrozen || from.resume())
      if (this.freezeAfter !== undefined && bytes.includes(this.freezeAfter)) this.freeze()
    })
    from.on('end', () => way.end())
    from.on('error', () => to.destroy())
    from.once('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
    if (this.isFrozen) from.pause()
  }
}

/** One direction of a connection. Whatever the weather does, its bytes stay in order. */
class Way {
  readonly #to: Socket
  readonly #weather: () => Weather
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(to: Socket, weather: () => Weather) {
    this.#to = to
    this.#weather = weather
  }

  add(bytes: Buffer, passed: () => void): void {
    if (this.#waiting === 0 && this.#weather() === fair) return void this.#to.write(bytes)
    const due = performance.now() + this.#weather().delay
    this.#then(async () => {
      await this.#pass(bytes, due)
      passed()
    })
  }

  end(): void {
    if (this.#waiting === 0) this.#to.end()
    else this.#then(async () => this.#to.end())
  }

  #then(work: () => Promise<unknown>): void {
    this.#waiting++
    this.#last = this.#last.then(work).then(() => this.#waiting--)
  }

  async #pass(bytes: Buffer, due: number): Promise<void> {
    const wait = due - performance.now()
    if (wait > 0 && !this.#to.destroyed) await sleep(wait)
    for (let at = 0; at < bytes.length && !this.#to.destroyed;) {
      const { rate } = this.#weather()
      const part = rate === Infinity ? bytes.length : Math.max(1, Math.round((rate * tick) / 1000))
      this.#to.write(bytes.subarray(at, at + part))
      at += part
      if (rate !== Infinity) await sleep(tick)
    }
  }
}
