import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkMetrics } from '../support/promtool.ts'
import { ScrapedApp } from '../support/scraped-app.ts'

const programs = `${import.meta.dirname}/../programs/metrics`

for (const run of ['shared', 'thread', 'process'] as const)
  describe(`a service in placement ${run}`, () => {
    test('shows what it registers in prom-client, with labels of its own renamed', async () => {
      await using scraped = await ScrapedApp.start({
        services: { web: { file: `${programs}/prom/index.cjs`, run, env: { NAME: 'a' } } },
      })
      await scraped.get()
      await scraped.get()
      const metrics = await scraped.scrapeWhen(
        'orders_a_total{service="web",worker="0",kind="big",exported_service="theirs"} 4',
        'queue_size_a{service="web",worker="0"} NaN',
        'took_a_seconds_bucket{service="web",worker="0",route="/",le="1"} 2',
        'took_a_seconds_bucket{service="web",worker="0",route="/",le="+Inf"} 4',
        'took_a_seconds_sum{service="web",worker="0",route="/"} 11',
        'took_a_seconds_count{service="web",worker="0",route="/"} 4',
        'sizes_a{service="web",worker="0",quantile="0.5"} 3',
        'busbar_service_metric_series{service="web",worker="0"} 4',
      )
      checkMetrics(metrics)
    })

    test('shows what it records by the API of OpenTelemetry', async () => {
      await using scraped = await ScrapedApp.start({ services: { web: { file: `${programs}/otel/index.mjs`, run } } })
      await scraped.get()
      await scraped.get()
      const scope = 'otel_scope_name="shop"'
      const of = `service="web",worker="0"`
      const metrics = await scraped.scrapeWhen(
        `orders_placed_total{${of},kind="big",exported_service="theirs",${scope}} 2`,
        `orders_open{${of},${scope}} 2`,
        `orders_took_seconds_bucket{${of},${scope},le="0.1"} 0`,
        `orders_took_seconds_bucket{${of},${scope},le="1"} 2`,
        `orders_took_seconds_count{${of},${scope}} 4`,
        `level_ratio{${of},${scope}} 0.25`,
        `seen_bytes{${of},a_b="x",${scope}} 7`,
        `observed_total{${of},${scope}} 6`,
        '# HELP orders_placed_total Orders.',
      )
      checkMetrics(metrics)
      const open = await scraped.scrape('application/openmetrics-text')
      assert.match(open, /^# TYPE orders_placed counter$/m)
      assert.match(open, /# EOF\n$/)
    })
  })

test('a service sets its own provider of OpenTelemetry as without Busbar', async () => {
  await using scraped = await ScrapedApp.start({ services: { web: `${programs}/own-provider.mjs` } })
  assert.deepEqual(JSON.parse(await scraped.get()), { registered: true, added: 5 })
})

test('two services of one thread have the metrics that each has registered', async () => {
  const file = `${programs}/prom/index.cjs`
  await using scraped = await ScrapedApp.start({
    services: {
      a: { file, run: 'thread', group: 'both', env: { NAME: 'a' } },
      b: { file: `${programs}/otel/index.mjs`, run: 'thread', group: 'both' },
    },
    gateway: {
      routes: [
        { host: undefined, prefix: '/b', service: 'b', strip: true },
        { host: undefined, prefix: '/', service: 'a', strip: true },
      ],
    },
  })
  await scraped.get('/')
  await scraped.get('/b')
  await scraped.scrapeWhen(
    'orders_a_total{service="a",worker="1",kind="big",exported_service="theirs"} 2',
    'orders_placed_total{service="b",worker="1",kind="big",exported_service="theirs",otel_scope_name="shop"} 1',
  )
})

for (const run of ['thread', 'process'] as const)
  test(`counters go on after the death of their worker, gauges begin anew (${run})`, async () => {
    await using scraped = await ScrapedApp.start({
      services: { web: { file: `${programs}/prom/index.cjs`, run, env: { NAME: 'a' } } },
    })
    await scraped.get()
    const counted = 'orders_a_total{service="web",worker="0",kind="big",exported_service="theirs"}'
    await scraped.scrapeWhen(`${counted} 2`)
    await scraped.get('/die').catch(() => {})
    await scraped.app.untilReplaced(0)
    await scraped.scrapeWhen(`${counted} 2`)
    await scraped.app.running.replace()
    await scraped.get()
    await scraped.scrapeWhen(
      `${counted} 4`,
      'took_a_seconds_bucket{service="web",worker="0",route="/",le="+Inf"} 4',
      'sizes_a_count{service="web",worker="0"} 2',
    )
  })

test("names of Busbar's own are refused, with one warning", async () => {
  await using scraped = await ScrapedApp.start({
    services: { web: { file: `${programs}/prom/index.cjs`, env: { NAME: 'a', DEFAULTS: 'yes' } } },
  })
  await scraped.get()
  const metrics = await scraped.scrapeWhen('sizes_a_count{service="web",worker="0"} 1')
  assert.match(metrics, /^nodejs_active_handles_total\{service="web",worker="0"\} \d+$/m)
  assert.equal(metrics.match(/^# TYPE process_cpu_seconds_total /gm)?.length, 1)
  checkMetrics(metrics)
  const warnings = scraped.app.log.filter(({ line }) => /are left out/.test(line))
  assert.equal(warnings.length, 1)
  assert.match(warnings[0]!.line, /^metrics of service 'web' .* process_cpu_seconds_total/)
})

test('beyond its limit a worker leaves series out, counts them, and warns once', async () => {
  await using scraped = await ScrapedApp.start({
    services: { web: { file: `${programs}/prom/index.cjs`, env: { NAME: 'a' } } },
  })
  await scraped.get('/many')
  const metrics = await scraped.scrapeWhen('many_a{service="web",worker="0",n="9000"} 9000')
  assert.match(metrics, /^busbar_service_metric_series_dropped\{service="web",worker="0"\} 1\d{4}$/m)
  assert.equal(scraped.app.log.filter(({ line }) => /has too many metrics/.test(line)).length, 1)
})

test('beyond its limit a histogram has whole series only, and the others are counted', async () => {
  await using scraped = await ScrapedApp.start({
    services: { web: { file: `${programs}/prom/index.cjs`, env: { NAME: 'a' } } },
  })
  await scraped.get('/routes')
  // Of 3,001 series with 5 lines each. At the limit the last one may be cut.
  const metrics = await scraped.scrapeWhen('busbar_service_metric_series_dropped{service="web",worker="0"} 1002')
  assert.equal(metrics.match(/^took_a_seconds_count\{/gm)?.length, 1999)
  assert.equal(metrics.match(/^took_a_seconds_bucket\{.*le="\+Inf"/gm)?.length, 1999)
  checkMetrics(metrics)
})
