/** The typed service `shop` in this thread, without supervisor and workers. */
import { createServer as createHttpServer } from 'node:http'
import { BusbarError } from '../../../src/contract/errors.ts'
import { client } from '../../../src/contract/client-entry.ts'
import { defaultMaxInFlight, startHost } from '../../../src/contract/host/typed-host.ts'
import { fn, service, stream, type } from '../../../src/contract/index.ts'
import { ExportedLinks } from '../../../src/mesh/hosts/export/exported-links.ts'
import type { LocalEndpoint } from '../../../src/mesh/routing/endpoint.ts'
import type { Implementation } from '../../../src/contract/implementation.ts'
import { AppUse } from '../../../src/shared/calls/app-use.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { answerTypedCalls } from '../../../src/mesh/typed/answer-calls.ts'
import { CallContexts } from '../../../src/mesh/typed/call-contexts.ts'

export const shop = service('shop', {
  read: fn({ input: type<unknown>(), output: type<unknown>(), idempotent: true }),
  write: fn({ input: type<unknown>(), output: type<unknown>() }),
  keyed: fn({ input: type<string>(), output: type<unknown>(), key: (key) => key }),
  fails: fn({ input: type<unknown>(), output: type<unknown>(), errors: { SOLD_OUT: type<{ left: number }>() } }),
  busy: fn({ output: type<unknown>() }),
  dies: fn({ output: type<unknown>(), idempotent: true }),
  ticks: stream({ input: type<number>(), output: type<number>() }),
})

/** An instance of the shop. It records its calls. */
export class Shop {
  readonly name: string
  /** What the calls of other apps take: at this worker, and at another one. */
  readonly use = new AppUse(2)
  readonly done: unknown[] = []
  readonly aborted: string[] = []
  readonly log: string[] = []
  /** Milliseconds that a call takes; Infinity: it never ends. */
  delay = 0
  /** What a call returns. Default: the name of the app, and the input. */
  answer: unknown
  /** Whether `busy` says that the service is down. */
  isDown = false
  /** False for measurements: calls leave nothing behind. */
  isRecording = true

  constructor(name: string) {
    this.name = name
  }

  /** Resolves when so many calls have begun. */
  async began(count = 1): Promise<void> {
    while (this.done.length < count) await new Promise((resolve) => setTimeout(resolve, 2))
  }

  /** Answers the calls of other apps. */
  async openLinks(keepAliveTimeout?: number): Promise<ExportedLinks> {
    const contexts = new CallContexts('shop')
    const options = { name: 'shop', log: console, clone: false, maxInFlight: defaultMaxInFlight, client }
    const typed = await startHost(this.implementation(), { ...options, enter: contexts.enter })
    const router = new Router(['shop', 'secret'])
    const enter: LocalEndpoint['enter'] = (scope, run) => contexts.enterScope(scope, run)
    router.add({ at: 'here', service: 'shop', server: createHttpServer(), typed, state: 'serving', enter })
    const answer = answerTypedCalls({ router, validate: 'edge' })
    return new ExportedLinks({
      mesh: { router, maxHops: 16 },
      answer,
      loadOf: () => typed.inFlight,
      useOf: (app) => this.use.of(app, 0, ''),
      log: (_, line) => this.log.push(line),
      keepAliveTimeout,
    })
  }

  protected async act(input: unknown, call: { signal: AbortSignal }): Promise<unknown> {
    if (this.isRecording) this.#record(input, call)
    if (this.delay === Infinity) return await new Promise(() => {})
    if (this.delay > 0) await new Promise((resolve) => setTimeout(resolve, this.delay))
    return this.answer ?? { at: this.name, input }
  }

  #record(input: unknown, { signal }: { signal: AbortSignal }): void {
    signal.addEventListener('abort', () => this.aborted.push((signal.reason as { code: string }).code))
    this.done.push(input)
  }

  protected implementation(): Implementation {
    const act = (input: unknown, context: { signal: AbortSignal }): Promise<unknown> => this.act(input, context)
    const down = (): BusbarError => new BusbarError('SERVICE_UNAVAILABLE', { message: `${this.name} is down` })
    return shop.implement({
      read: act,
      write: act,
      keyed: act,
      fails: async (input, context) => {
        if (this.answer === undefined) return context.fail('SOLD_OUT', { left: 0 })
        return context.fail('SOLD_OUT', (await act(input, context)) as { left: number })
      },
      busy: async (_, context) => {
        if (this.isDown) throw down()
        return await act('busy', context)
      },
      dies: async (_, context) => {
        if (this.isDown) throw new BusbarError('WORKER_DIED', { message: `a worker of ${this.name} has died` })
        return await act('dies', context)
      },
      async *ticks(count) {
        for (let at = 0; at < count; at++) {
          yield at
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
      },
    })
  }
}
