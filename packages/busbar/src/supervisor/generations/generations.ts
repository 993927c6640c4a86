import type { App } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { Change, Outdated } from './changes.ts'
import { type Difference, differenceOf, needsRestart, type SlotChange } from './difference.ts'
import { Generation, type GenerationParts } from './generation.ts'
import type { Untested } from './trial.ts'

export interface GenerationsParts extends GenerationParts {
  readonly app: () => App
  /** Aborts when the app begins to stop. */
  readonly stopping: AbortSignal
  /** Generations serve side by side, as `slowStart` and `trial` say: not in development. */
  readonly sideBySide: boolean
  /** How many slots the app may have. */
  readonly maxSlots: number
  readonly log: (level: 'info' | 'warn', line: string) => void
}

/**
 * The changes of a running app, one after the other: reload, scale and move are each a new
 * generation of the workers that differ.
 */
export class Generations {
  readonly #parts: GenerationsParts
  readonly #started = Promise.withResolvers<void>()
  #last: Promise<void> = this.#started.promise
  #number = 1

  constructor(parts: GenerationsParts) {
    this.#parts = parts
    parts.stopping.addEventListener('abort', this.begin)
  }

  /** Call it when the app serves. Changes wait for it: they would end workers that still start. */
  readonly begin = (): void => this.#started.resolve()

  /**
   * Resolves when the new generation has taken over; the old one still drains. Rejects with
   * RESTART_NEEDED before anything has changed, or with the error of a worker that did not start:
   * then the running generation stays. `next` is called when it is this change's turn.
   */
  change(next: (running: App) => App | Promise<App>, outdated: Outdated): Promise<Change> {
    const before = this.#last
    const done = (async () => {
      await before
      return await this.#change(await next(this.#parts.app()), outdated)
    })()
    this.#last = done.then(
      () => {},
      () => {},
    )
    return done
  }

  async #change(next: App, outdated: Outdated): Promise<Change> {
    const { app, slots, ports, stopping, sideBySide, maxSlots, log } = this.#parts
    if (stopping.aborted) throw stopped()
    const running = app()
    refuse(needsRestart(running, next, ports.entrance !== undefined || ports.wouldOpenEntrance(next)))
    const specs = slots.current.map(({ spec }) => spec)
    const difference = differenceOf(running, next, specs, outdated)
    if (difference.slots.length > maxSlots) refuse([`${difference.slots.length} workers (at most ${maxSlots} now)`])
    const generation = new Generation(running, next, difference, this.#parts)
    const number = ++this.#number
    const began = performance.now()
    try {
      await generation.prepare()
      // A scaling, a move and a renewal run the same code, so there is nothing to try out.
      const hasNewCode = outdated === 'all' || (Array.isArray(outdated) && outdated.length > 0)
      const untested = sideBySide ? await generation.serveBeside(hasNewCode, stopping) : []
      if (stopping.aborted) throw stopped()
      for (const one of untested) log('warn', `generation ${number}: ${untestedText(one)}`)
      generation.takeOver()
    } catch (error) {
      await generation.discard()
      log('warn', `generation ${number} is discarded, and the running one stays: ${(error as Error).message}`)
      for (const line of stackOf(error as Error)) log('warn', line)
      throw error
    }
    const change = changeOf(number, difference, Math.round(performance.now() - began))
    log('info', `generation ${number} took over in ${change.took} ms: ${textOf(change)}`)
    return change
  }
}

/** Lines of a stack in the log. */
const mostLines = 20

/** Of the program that did not start: nobody else shows it in a running app. */
function stackOf({ cause, stack = '' }: Error): readonly string[] {
  const own = cause instanceof Error ? cause.stack : stack
  return own === undefined || own.startsWith('BusbarError') ? [] : own.split('\n').slice(0, mostLines)
}

function untestedText({ service, running, next }: Untested): string {
  const calls = `its new instances got ${next} calls, and the running ones ${running}`
  return `the trial says nothing about service '${service}': ${calls}. Clients keep their connections to the running ones, and the least busy ones get the others`
}

function stopped(): BusbarError {
  return new BusbarError('APP_NOT_RUNNING', { message: 'the app was stopped' })
}

function refuse(changed: readonly string[]): void {
  if (changed.length === 0) return
  throw new BusbarError('RESTART_NEEDED', {
    message: `only a restart of the whole app can change ${changed.join(', ')}`,
    hint: 'Run busbar restart, which ends all connections; nothing has been changed so far.',
  })
}

function changeOf(generation: number, { slots, removed }: Difference, took: number): Change {
  const count = (is: SlotChange['is']): number => slots.filter((slot) => slot.is === is).length
  const [replaced, added, kept] = [count('replaced'), count('added'), count('kept')]
  return { generation, replaced, added, removed: removed.length, kept, took }
}

function textOf({ replaced, added, removed, kept }: Change): string {
  return Object.entries({ replaced, added, removed, kept })
    .filter(([, number]) => number > 0)
    .map(([what, number]) => `${number} ${number === 1 ? 'worker' : 'workers'} ${what}`)
    .join(', ')
}
