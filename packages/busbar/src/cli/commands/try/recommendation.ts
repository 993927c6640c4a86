import type { Placement } from '../../../config/app.ts'
import type { Tried, TriedArm } from './lab.ts'

/** Where the services should run. */
export interface Recommendation {
  /** Undefined: where the import puts them. */
  readonly placement: Placement['run'] | undefined
  /** A sentence. */
  readonly why: string
}

/** The safest first: that in which services have most of their own. */
const bySafety = ['process', 'thread', 'shared'] as const

/**
 * Of the placements with the same answers, the one with the most requests per CPU second of those
 * that are faster than the first arm. A rate alone says nothing: if none is faster, the safest.
 */
export function recommend({ arms }: Tried): Recommendation {
  const first = arms.find(({ figures }) => figures !== null)
  const sound = bySafety.flatMap((run) => arms.filter((arm) => arm.name === run && isSound(arm)))
  if (first === undefined || sound.length === 0)
    return {
      placement: undefined,
      why: `${first === undefined ? 'Nothing was measured' : 'No placement with the same answers has figures that count'}, so each service runs where the import puts it.`,
    }
  const faster = sound.filter((arm) => verdictOf(arm) === 'faster').toSorted((one, other) => rate(other) - rate(one))
  const [fastest] = faster
  if (fastest !== undefined)
    return { placement: runOf(fastest), why: `${fastest.title} is faster than ${first.title}, per CPU second.` }
  const [safest] = [...sound.filter((arm) => verdictOf(arm) !== 'slower'), ...sound]
  return {
    placement: runOf(safest!),
    why: sound.some((arm) => arm !== first && isUnclear(arm))
      ? `It is unclear whether any placement is faster than ${first.title}, so this is the safest: ${safest!.title}.`
      : `No placement is faster than ${first.title}, so this is the safest: ${safest!.title}.`,
  }
}

function isSound({ problem, answers, figures }: TriedArm): boolean {
  const isSame = answers.every(({ differences }) => differences.length === 0)
  return problem === null && isSame && figures?.invalidBecause.length === 0 && figures.perCpuSecond !== null
}

function rate({ figures }: TriedArm): number {
  return figures?.perCpuSecond ?? 0
}

/** Also if the first arm does not count. */
function isUnclear(arm: TriedArm): boolean {
  const verdict = verdictOf(arm)
  return verdict !== 'slower' && verdict !== 'no difference'
}

function verdictOf({ figures }: TriedArm): string | undefined {
  return figures?.comparison?.verdict
}

function runOf({ name }: TriedArm): Placement['run'] {
  return name as Placement['run']
}
