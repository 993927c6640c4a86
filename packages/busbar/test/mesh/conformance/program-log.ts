import type { EventEmitter } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** What a program saw, in order. */
export class ProgramLog {
  readonly events: string[] = []
  readonly #aside: string[] = []
  readonly #open = new Set<string>()
  #waiting: (() => void)[] = []
  #calls = 0

  add(event: string): void {
    this.events.push(event)
    this.#wake()
  }

  /** Entries without an order. */
  addAside(event: string): void {
    this.#aside.push(event)
    this.#wake()
  }

  /** Something else of the program that must finish too. */
  async during(work: Promise<void>): Promise<void> {
    const name = `work ${this.#calls}`
    this.#open.add(name)
    await work
    this.#open.delete(name)
    this.#wake()
  }

  /**
   * Logs the events of a request and its response. The case is over when both have closed. Returns
   * the call's mark.
   */
  watch(request: IncomingMessage, response: ServerResponse): string {
    const call = this.#calls++ === 0 ? '' : `${this.#calls}: `
    this.#follow(`${call}request`, request, ['aborted', 'error', 'end'])
    this.#follow(`${call}response`, response, ['error', 'finish'])
    return call
  }

  /** Calls in the order they started. How they interleave does not depend on the way of calling. */
  byCall(): string[] {
    return [...this.events.toSorted((one, other) => callOf(one) - callOf(other)), ...this.#aside]
  }

  /** Resolves when `event` has been logged. */
  async until(event: string): Promise<void> {
    while (!this.events.includes(event) && !this.#aside.includes(event))
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Resolves when everything watched has closed. Logs what stays open for good. */
  async settled(): Promise<void> {
    let over = false
    const limit = setTimeout(() => {
      over = true
      this.#wake()
    }, 500)
    while (this.#open.size > 0 && !over) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    clearTimeout(limit)
    // Effects of closing, such as the callback of a pipeline.
    for (let turn = 0; turn < 2; turn++) await nextTurn()
    for (const name of this.#open) this.events.push(`${name} left open`)
  }

  #follow(name: string, emitter: EventEmitter, events: readonly string[]): void {
    this.#open.add(name)
    for (const event of events) emitter.on(event, (value?: unknown) => this.add(`${name} ${event}${detailOf(value)}`))
    emitter.on('close', () => {
      this.#open.delete(name)
      this.add(`${name} close`)
    })
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

function detailOf(value: unknown): string {
  return value instanceof Error ? ` ${(value as { code?: string }).code ?? value.message}` : ''
}

function callOf(event: string): number {
  return Number(/^\d+(?=: )/.exec(event)?.[0] ?? 1)
}
