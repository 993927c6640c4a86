import { existsSync } from 'node:fs'
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { CellRound, Round } from './round.ts'

/** What a run must have in common with the one that it goes on with. */
export interface RunIdentity {
  readonly scenario: string
  readonly seed: number
  /** Names of the cells. */
  readonly cells: readonly string[]
  readonly node: string
  readonly cpu: string
  readonly engine: string
  /** All that shapes a round, as JSON. */
  readonly shape: string
}

/** A file that holds the rounds of a run that are whole, so that one that was ended can go on later. */
export class Checkpoint {
  readonly #file: string
  /** Rounds of the run that this one goes on with. */
  readonly rounds: readonly Round[]
  /** The seed of that run, which is this one's too. */
  readonly seed: number

  private constructor(file: string, seed: number, rounds: readonly Round[]) {
    this.#file = file
    this.seed = seed
    this.rounds = rounds
  }

  /** Begins anew, over what an earlier run left. */
  static async begin(file: string, identity: RunIdentity): Promise<Checkpoint> {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, `${JSON.stringify(identity)}\n`)
    return new Checkpoint(file, identity.seed, [])
  }

  /** Goes on with the run that left this file. Throws a sentence where there is none, or where it was another one. */
  static async resume(file: string, identity: RunIdentity): Promise<Checkpoint> {
    if (!existsSync(file)) throw new Error('there is nothing to go on with: no run of this command was ended early')
    const [header, ...lines] = (await readFile(file, 'utf8')).split('\n').slice(0, -1)
    const before = JSON.parse(header ?? '{}') as RunIdentity
    const keys = Object.keys(identity) as (keyof RunIdentity)[]
    const other = keys.find((key) => key !== 'seed' && JSON.stringify(before[key]) !== JSON.stringify(identity[key]))
    if (other !== undefined)
      throw new Error(`the run that was ended early cannot go on: its ${other} was ${JSON.stringify(before[other])}`)
    return new Checkpoint(file, before.seed, lines.map(fromLine))
  }

  async add(round: Round): Promise<void> {
    await appendFile(this.#file, `${JSON.stringify({ ...round, cells: [...round.cells] })}\n`)
  }

  /** The run is over: nothing to go on with. */
  async remove(): Promise<void> {
    await rm(this.#file, { force: true })
  }
}

function fromLine(line: string): Round {
  const round = JSON.parse(line) as Omit<Round, 'cells'> & { cells: [string, CellRound][] }
  return { ...round, cells: new Map(round.cells) }
}
