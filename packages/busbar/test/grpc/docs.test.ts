import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { errorTable } from '../../src/contract/errors.ts'
import { grpcStatusName, statusOfCode, statusOfDeclared, toGrpcStatus } from '../../src/contract/grpc/statuses.ts'

const page = readFileSync(new URL('../../../../docs/guides/call/grpc.md', import.meta.url), 'utf8')
const [, section] = /^## Errors\n(.*?)^## /ms.exec(page)!
const rows = [...section!.matchAll(/^\| (.+?) \| ([A-Z_]+) \|$/gm)].map(([, errors, status]) => ({
  errors: errors!,
  status: status!,
}))

describe('the table of statuses in docs/guides/call/grpc.md', () => {
  it('has every code with a status of its own', () => {
    const documented = rows.flatMap(({ errors, status }) =>
      [...errors.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => [code!, status]),
    )
    assert.deepEqual(Object.fromEntries(documented), statusOfCode)
    for (const code of Object.keys(statusOfCode)) assert.ok(code in errorTable, code)
  })

  it('has every status of a declared error', () => {
    const documented = rows.flatMap(({ errors, status }) =>
      errors.startsWith('declared') ? [...errors.matchAll(/\d{3}/g)].map(([number]) => [number, status]) : [],
    )
    assert.deepEqual(Object.fromEntries(documented), statusOfDeclared)
    assert.equal(grpcStatusName(toGrpcStatus({ code: 'X', status: 418, declared: true })), 'FAILED_PRECONDITION')
  })
})
