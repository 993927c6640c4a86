import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceleratorNames } from '../../../src/shared/accelerators.ts'
import { TestApp } from '../../support/app/test-app.ts'

const folder = `${import.meta.dirname}/../programs/instrumented`

for (const run of ['shared', 'thread', 'process'] as const)
  for (const accelerators of [acceleratorNames, []])
    test(`instrumentation of servers that listen already sees a request, once (${run}, ${accelerators.length === 0 ? 'without' : 'with'} accelerators)`, async () => {
      await using app = await TestApp.start({
        services: { web: { file: `${folder}/index.mjs`, run }, caller: { file: `${folder}/caller.mjs`, run } },
        gateway: {
          entry: 'web',
          routes: [{ host: undefined, prefix: '/caller', service: 'caller' }],
        },
        accelerators,
      })
      // The gateway is in the thread of a shared service.
      for (const [path, seen] of [
        ['/', 1],
        ['/caller', run === 'shared' ? 3 : 2],
      ] as const)
        assert.equal(await (await fetch(new URL(path, app.url))).text(), `true ${seen}`, path)
    })
