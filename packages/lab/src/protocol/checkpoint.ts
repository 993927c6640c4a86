import { existsSync } from 'node:fs'
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { CellRound, Round } from './round.ts'

/** Must be equal for a run to resume another. */
export interface RunIdentity {
  readonly scenario: string
  readonly seed: number
  /** Names of the cells. */
  readonly cells: readonly string[]
  readonly node: string
  readonly cpu: string
  readonly engine: string
  /** Everything that determines a round, as JSON. */
  readonly shape: string
}

/** A file with the completed rounds of a run, so that an interrupted run can be resumed. */
export class Checkpoint {
  readonly #file: string
  /** Rounds of the resumed run. */
  readonly rounds: readonly Round[]
  /** The seed of the resumed run, or of this one. */
  readonly seed: number

  private constructor(file: string, seed: number, rounds: readonly Round[]) {
    this.#file = file
    this.seed = seed
    this.rounds = rounds
  }

  /** Starts a new file, and overwrites that of an earlier run. */
  static async begin(file: string, identity: RunIdentity): Promise<Checkpoint> {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, `${JSON.stringify(identity)}\n`)
    return new Checkpoint(file, identity.seed, [])
  }

  /** Resumes the run of this file. Throws if there is none, or if it was a different run. */
  static async resume(file: string, identity: RunIdentity): Promise<Checkpoint> {
    if (!existsSync(file)) throw new Error('there is nothing to resume: no run of this command was interrupted')
    const [header, ...lines] = (await readFile(file, 'utf8')).split('\n').slice(0, -1)
    const before = JSON.parse(header ?? '{}') as RunIdentity
    const keys = Object.keys(identity) as (keyof RunIdentity)[]
    const other = keys.find((key) => key !== 'seed' && JSON.stringify(before[key]) !== JSON.stringify(identity[key]))
    if (other !== undefined)
      throw new Error(`the interrupted run cannot be resumed: its ${other} was ${JSON.stringify(before[other])}`)
    return new Checkpoint(file, before.seed, lines.map(fromLine))
  }

  async add(round: Round): Promise<void> {
    await appendFile(this.#file, `${JSON.stringify({ ...round, cells: [...round.cells] })}\n`)
  }

  /** For a run that is complete. */
  async remove(): Promise<void> {
    await rm(this.#file, { force: true })
  }
}

function fromLine(line: string): Round {
  const round = JSON.parse(line) as Omit<Round, 'cells'> & { cells: [string, CellRound][] }
  return { ...round, cells: new Map(round.cells) }
}
