import type { Frame } from './read-profile.ts'

/** The app’s own frames. What others used below them is theirs. */
export function ownFramesOf(root: Frame): Frame {
  return merged([root])
}

/** One frame for calls of the same function by the same caller, which others stood between. */
function merged(same: readonly Frame[], parent?: Frame): Frame {
  const { id, name, place, owner } = same[0]!
  const { self, own } = below(same)
  const depth = parent === undefined ? 0 : parent.depth + 1
  const frame = { id, name, place, owner, depth, parent, children: [] as Frame[], self, total: self }
  frame.children = [...Map.groupBy(own, (one) => `${one.name} ${one.place}`).values()]
    .map((one) => merged(one, frame))
    .sort((one, other) => other.total - one.total)
  for (const { total } of frame.children) frame.total += total
  return frame
}

/** What these frames used without the next own ones, and those. */
function below(frames: readonly Frame[]) {
  const own: Frame[] = []
  let self = 0
  const visit = (frame: Frame): void => {
    self += frame.self
    for (const child of frame.children) {
      if (child.owner === 'own') own.push(child)
      else visit(child)
    }
  }
  frames.forEach(visit)
  return { self, own }
}
