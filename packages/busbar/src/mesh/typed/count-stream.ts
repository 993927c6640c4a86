import { type CallEdge, statusOf, succeeded } from '../../contract/call/call-edge.ts'

/** Counts a stream for the edge of its caller, from now to its end, its failure, or until the caller leaves. */
export function countStream(values: AsyncIterator<unknown>, edge: CallEdge | undefined): AsyncIterator<unknown> {
  if (edge === undefined) return values
  const began = edge.begin()
  let isOver = false
  const end = (status: number): void => {
    if (isOver) return
    isOver = true
    edge.end(status, began)
  }
  return {
    next: async () => {
      try {
        const step = await values.next()
        if (step.done === true) end(succeeded)
        return step
      } catch (error) {
        end(statusOf(error))
        throw error
      }
    },
    return: async (value) => {
      end(succeeded)
      return (await values.return?.(value)) ?? { done: true, value }
    },
  }
}
