import { Copy, type CopyOptions } from './copy.ts'
import { randomFrom, shuffled, type Cell, type Timing } from './plan.ts'
import { runSlice, type Slice } from './slice.ts'

/**
 * Visits all cells round by round. A round starts a fresh copy of every cell, warms it and stops it in its tracks;
 * then the cells are visited in random order and once more in the mirrored order, so that a drift within the round
 * falls on all alike, each thawed only while it is measured. What is compared later are the rounds.
 */
export interface Session {
  readonly cells: readonly Cell[]
  readonly timing: Timing
  readonly seed: number
  readonly engine: string
  readonly copies: Omit<CopyOptions, 'workers'>
  readonly signal?: AbortSignal
  /** After every slice and round. */
  readonly onProgress?: (progress: Progress) => void
  /** True ends the session before its last round: the intervals are narrow enough. */
  readonly isEnough?: (rounds: readonly Round[]) => boolean
}

export interface Progress {
  readonly round: number
  readonly rounds: number
  readonly cell: string
  readonly doing: 'start' | 'warm up' | 'measure'
}

export interface Round {
  readonly cells: ReadonlyMap<string, CellRound>
}

export interface CellRound {
  readonly slices: readonly Slice[]
  /** Slices thrown away because the machine took too much from them. */
  readonly lost: number
  /** Why this cell has no good slice in this round. */
  readonly failure: string | undefined
}

/** More steal or throttling than this, and the slice is repeated. */
const disturbed = 0.02
const repeats = 2

/** Runs until the timing is fulfilled, `isEnough` says so or the signal is aborted; rounds that are whole are returned. */
export async function runSession(session: Session): Promise<Round[]> {
  const random = randomFrom(session.seed)
  const began = performance.now()
  const rounds: Round[] = []
  const { timing, signal } = session
  while (rounds.length < timing.maxRounds && !signal?.aborted) {
    if (rounds.length >= timing.rounds && session.isEnough?.(rounds)) break
    const perRound = (performance.now() - began) / Math.max(1, rounds.length)
    if (rounds.length >= 2 && performance.now() - began + perRound > timing.budgetMs) break
    const round = await runRound(session, rounds.length, random)
    if (signal?.aborted) break
    rounds.push(round)
  }
  return rounds
}

async function runRound(session: Session, number: number, random: () => number): Promise<Round> {
  const order = shuffled(session.cells, random)
  const results = new Map(
    order.map((cell) => [cell.name, { slices: [] as Slice[], lost: 0, failure: undefined as string | undefined }]),
  )
  const copies = new Map<string, Copy>()
  const tell = (cell: Cell, doing: Progress['doing']) =>
    session.onProgress?.({ round: number + 1, rounds: session.timing.rounds, cell: cell.name, doing })
  try {
    for (const cell of order) {
      if (session.signal?.aborted) break
      try {
        tell(cell, 'start')
        const copy = await Copy.start(cell.arm, { ...session.copies, workers: cell.workers })
        copies.set(cell.name, copy)
        tell(cell, 'warm up')
        await slice(session, copy, cell, session.timing.warmUpMs, random)
        await copy.freeze()
      } catch (error) {
        results.get(cell.name)!.failure = (error as Error).message
      }
    }
    for (const cell of [...order, ...order.toReversed()]) {
      const copy = copies.get(cell.name)
      if (copy === undefined || session.signal?.aborted) continue
      tell(cell, 'measure')
      await measure(session, copy, cell, results.get(cell.name)!, random)
    }
  } finally {
    await Promise.all([...copies.values()].map((copy) => copy.end()))
  }
  return { cells: results }
}

async function measure(
  session: Session,
  copy: Copy,
  cell: Cell,
  result: { slices: Slice[]; lost: number; failure: string | undefined },
  random: () => number,
): Promise<void> {
  await copy.thaw()
  try {
    for (let attempt = 0; attempt <= repeats; attempt++) {
      const found = await slice(session, copy, cell, session.timing.sliceMs, random)
      if (found.disturbance.steal <= disturbed && found.disturbance.throttled <= disturbed) {
        result.slices.push(found)
        return
      }
      result.lost++
    }
  } catch (error) {
    result.failure = copy.hasEnded ? `it ended under load:\n${copy.said}` : (error as Error).message
  } finally {
    await copy.freeze()
  }
}

function slice(session: Session, copy: Copy, cell: Cell, durationMs: number, random: () => number): Promise<Slice> {
  return runSlice(copy, cell.work, {
    engine: session.engine,
    durationMs,
    discardMs: Math.min(session.timing.discardMs, durationMs / 2),
    seed: Math.floor(random() * 2 ** 31),
    ...(session.signal && { signal: session.signal }),
  })
}
