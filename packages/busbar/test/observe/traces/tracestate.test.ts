import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadApp } from '../../../src/config/load.ts'
import { newTraceId } from '../../../src/shared/traces/trace-context.ts'
import { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { isInstalled } from '../../support/is-installed.ts'
import { OtlpReceiver } from '../support/otlp-receiver.ts'

/** An optional package, which an installation may leave out. */
const skip = isInstalled('@opentelemetry/exporter-trace-otlp-proto') ? false : 'the exporter is not installed'

test(
  'spans are exported with the tracestate of their trace, unless it is longer than the standard asks for',
  { skip },
  async () => {
    await using receiver = await OtlpReceiver.open()
    const [kept, long, none] = [newTraceId(), newTraceId(), newTraceId()]
    const states = new Map([
      [kept, 'ot=th:8,own=1'],
      [long, `own=${'1'.repeat(600)}`],
      [none, undefined],
    ])
    {
      using files = new TestFolder({ 'web/index.js': 'require("http").createServer().listen(0)' })
      files.write('busbar.config.json', JSON.stringify({ otlp: { url: receiver.url }, services: { web: './web' } }))
      const { otlp } = await loadApp(files.path)
      const app = await loadApp(`${import.meta.dirname}/../programs/spans`)
      await using running = await TestApp.startLoaded({ ...app, otlp })
      for (const [id, tracestate] of states) {
        const traceparent = `00-${id}-1234567890123456-01`
        const headers = { traceparent, ...(tracestate !== undefined && { tracestate }) }
        await (await fetch(new URL('/fetch', running.url), { headers })).text()
      }
    }
    const statesOf = (id: string): unknown => [
      ...new Set(receiver.spans.filter(({ trace }) => trace === id).map(({ state }) => state)),
    ]
    assert.deepEqual([kept, long, none].map(statesOf), [['ot=th:8,own=1'], [''], ['']])
    const names = receiver.spans.filter(({ trace }) => trace === kept).map(({ name }) => name)
    assert.ok(names.includes('work') && names.includes('inner') && names.length >= 4)
  },
)
