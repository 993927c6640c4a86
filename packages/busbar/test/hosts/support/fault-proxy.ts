import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

/** A proxy between two apps that can break what passes through it. */
export class FaultProxy implements AsyncDisposable {
  readonly #target: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isFrozen = false
  /** Connections that were opened through it. */
  opened = 0

  private constructor(target: number) {
    this.#target = target
    this.#server = createServer((near) => this.#accept(near))
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

  /** Resets every connection. New ones are accepted. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  /** Passes nothing on, as if a cable were unplugged: both sides see an open connection. */
  freeze(): void {
    this.#isFrozen = true
    for (const socket of this.#sockets) socket.pause()
  }

  thaw(): void {
    this.#isFrozen = false
    for (const socket of this.#sockets) socket.resume()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await once(this.#server, 'close')
  }

  #accept(near: Socket): void {
    this.opened++
    const far = connect({ host: '127.0.0.1', port: this.#target, allowHalfOpen: true })
    this.#join(near, far)
    this.#join(far, near)
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from)
    from.on('data', (bytes) => to.write(bytes))
    from.on('end', () => to.end())
    from.on('error', () => to.destroy())
    from.once('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
    if (this.#isFrozen) from.pause()
  }
}
