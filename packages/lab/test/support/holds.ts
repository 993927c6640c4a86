import assert from 'node:assert/strict'
import type { LoadRequest } from '../../src/engine/job.ts'
import type { Answer } from '../../src/protocol/parity.ts'

/** Holds an answer against all that a request expects, as the engine does: `crates/load/src/check.rs`. */
export function assertHolds({ expect = {} }: LoadRequest, { status, body, headers }: Answer): void {
  assert.equal(status, expect.status ?? 200, body.toString())
  if (expect.body !== undefined) assert.equal(body.toString(), expect.body)
  for (const [name, value] of expect.headers ?? []) assert.equal(headers[name] ?? null, value, name)
}
