import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { missingOptionals } from '../complete-lock.ts'

test('the lock file has every optional package that it refers to', async () => {
  const lock = JSON.parse(await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8'))
  assert.deepEqual(Object.keys(missingOptionals(lock)), [], 'run: node scripts/complete-lock.ts')
})

test('a package for another platform gets an entry with that platform', () => {
  const tool = {
    version: '2.0.0',
    dev: true,
    optionalDependencies: {
      '@tool/linux-x64-musl': '2.0.0',
      '@tool/win32-arm64': '2.0.0',
      '@tool/wasm32-wasi': '2.0.0',
    },
  }
  assert.deepEqual(missingOptionals({ packages: { 'node_modules/tool': tool } }), {
    'node_modules/@tool/linux-x64-musl': {
      version: '2.0.0',
      os: ['linux'],
      cpu: ['x64'],
      libc: ['musl'],
      dev: true,
      optional: true,
    },
    'node_modules/@tool/win32-arm64': { version: '2.0.0', os: ['win32'], cpu: ['arm64'], dev: true, optional: true },
    'node_modules/@tool/wasm32-wasi': { version: '2.0.0', cpu: ['wasm32'], dev: true, optional: true },
  })
})
