/** What the plain functions of `../one-thread.ts` do. */
export interface Content {
  readonly content: string
}

let count = 0

export function live(): Content {
  return { content: `from "/live": ${count++ % 10}` }
}
