/** Spans that an SDK of a service makes, also by tracers that are older than it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceleratorNames } from '../../../src/shared/accelerators.ts'
import { newTraceId } from '../../../src/shared/traces/trace-context.ts'
import { TestApp } from '../../support/app/test-app.ts'

const file = `${import.meta.dirname}/../programs/own-sdk/index.cjs`

interface Span {
  readonly traceId: string
  readonly traceFlags: number
  readonly spanId: string
  readonly parent: string | null
}

/** The name of each span's parent. That of the request is Busbar's. */
const parents = {
  alone: 'request',
  old: 'request',
  'old in old': 'old',
  'new in old': 'old',
  'old in new': 'new',
  middle: 'new',
  'new in middle': 'middle',
  'given too': 'new',
  'new in given': 'given too',
} as const

for (const run of ['shared', 'thread', 'process'] as const)
  for (const accelerators of [acceleratorNames, []])
    test(`a tracer that is older than the service's SDK makes children of the SDK's spans (${run}, ${accelerators.length === 0 ? 'without' : 'with'} accelerators)`, async () => {
      await using app = await TestApp.start({
        services: { web: { file, run } },
        traces: { sample: 1, keep: 100 },
        accelerators,
      })
      for (const flags of ['01', '00']) {
        const id = newTraceId()
        const response = await fetch(app.url, { headers: { traceparent: `00-${id}-1234567890123456-${flags}` } })
        const { traceparent, spans } = (await response.json()) as { traceparent: string; spans: Record<string, Span> }
        const [, trace, request] = traceparent.split('-')
        const what = `${flags}: ${JSON.stringify({ traceparent, spans })}`
        assert.equal(trace, id, what)
        const idOf = (name: string): string | undefined => (name === 'request' ? request : spans[name]?.spanId)
        for (const [name, parent] of Object.entries(parents)) {
          assert.equal(spans[name]?.parent, idOf(parent), `${name} ${what}`)
          if (parent === 'request') assert.equal(spans[name]?.traceId, id, `${name} ${what}`)
          if (parent === 'request') assert.equal(spans[name]?.traceFlags, Number(flags), `${name} ${what}`)
        }
        for (const name of ['root', 'given']) assert.equal(spans[name]?.parent, null, `${name} ${what}`)
      }
    })
