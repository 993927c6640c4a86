import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { addressOf, startThings } from './support/things-app.ts'

const run = promisify(execFile)
/** One that has `grpcio`. */
const python = process.env['BUSBAR_GRPC_PYTHON'] ?? 'python3'
const skip = await run(python, ['-c', 'import grpc']).then(
  () => false,
  () => `${python} has no grpcio: pip install grpcio, or set BUSBAR_GRPC_PYTHON`,
)

describe('grpcio of Python', { skip }, () => {
  it('calls methods of all four kinds, and gets statuses', async () => {
    await using app = await startThings()
    const { stdout } = await run(python, [join(import.meta.dirname, 'programs', 'client.py'), addressOf(app)])
    assert.deepEqual(JSON.parse(stdout), {
      unary: 'a',
      missing: 'NOT_FOUND',
      late: 'DEADLINE_EXCEEDED',
      unknown: 'UNIMPLEMENTED',
      numbers: [1, 2, 3],
      sum: 6,
      doubled: [2, 4, 6],
      compressed: 'a',
    })
  })
})
