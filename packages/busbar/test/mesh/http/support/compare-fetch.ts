import { deepStrictEqual, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { comparableHeaders, neutral, openSides, type Side, type Sides } from './mesh-and-tcp.ts'

export interface Compared {
  readonly sides: Sides
  /**
   * Runs `observe` over the mesh and over a real connection. What the caller sees must be equal.
   */
  readonly same: (name: string, observe: (side: Side) => unknown) => void
}

/** Registers hooks in the suite that calls it. */
export function compareFetch(): Compared {
  let sides: Sides
  before(async () => (sides = await openSides()))
  after(() => sides[Symbol.asyncDispose]())
  return {
    get sides() {
      return sides
    },
    same(name, observe) {
      test(name, async () => {
        const mesh = await observe(sides.mesh)
        const tcp = await observe(sides.tcp)
        deepStrictEqual(mesh, tcp)
        ok(mesh !== undefined)
      })
    },
  }
}

/** Everything that a caller can see of a response. */
export async function seen(side: Side, response: Response): Promise<unknown> {
  const { status, statusText, ok, redirected, type } = response
  const before = response.bodyUsed
  const text = await response.text()
  const url = neutral(side, response.url)
  const headers = comparableHeaders(response.headers)
  return {
    status,
    statusText,
    ok,
    redirected,
    type,
    url,
    headers,
    before,
    after: response.bodyUsed,
    text: neutral(side, text),
  }
}
