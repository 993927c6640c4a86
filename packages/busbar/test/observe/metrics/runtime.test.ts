import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMetrics } from '../../support/app/prometheus.ts'
import { checkMetrics } from '../support/promtool.ts'
import { ScrapedApp } from '../support/scraped-app.ts'

const any = `${import.meta.dirname}/../../supervisor/programs/any.js`

for (const run of ['thread', 'process'] as const)
  test(`a worker reports its event loop, heap and collections, and its process (${run})`, async () => {
    await using app = await ScrapedApp.start({ services: { web: { file: any, run } } })
    let text = await app.scrape()
    while (!text.includes('\nnodejs_heap_size_limit_bytes{')) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      text = await app.scrape()
    }
    checkMetrics(text)
    const found = parseMetrics(text)
    const value = (name: string, label = '', is = ''): number =>
      found.get(name)!.samples.find(({ labels }) => label === '' || labels[label] === is)!.value
    assert.ok(value('nodejs_heap_size_total_bytes') <= value('nodejs_heap_size_limit_bytes'))
    assert.ok(value('v8js_memory_heap_used_bytes', 'v8js_heap_space_name', 'old_space') > 0)
    assert.ok(value('nodejs_eventloop_time_seconds_total', 'nodejs_eventloop_state', 'idle') >= 0)
    assert.ok(value('nodejs_eventloop_lag_min_seconds') <= value('nodejs_eventloop_lag_p99_seconds'))
    assert.ok(value('nodejs_eventloop_lag_p99_seconds') <= value('nodejs_eventloop_lag_max_seconds'))
    assert.equal(
      found.get('nodejs_gc_duration_seconds')!.samples.filter(({ name }) => name.endsWith('_count')).length,
      4,
    )
    assert.ok(value('process_cpu_user_seconds_total', 'kind', run === 'process' ? run : 'supervisor') > 0)
    if (process.platform !== 'linux') return
    assert.ok(value('process_open_fds') <= value('process_max_fds'))
    assert.equal(found.get('process_open_fds')!.samples.length, run === 'process' ? 2 : 1)
  })
