import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkMetrics } from '../support/promtool.ts'
import { ScrapedApp } from '../support/scraped-app.ts'

const programs = `${import.meta.dirname}/../programs/odd-metrics`

/** Both services in one thread: each must not stop the metrics of the other either. */
async function startBoth(): Promise<ScrapedApp> {
  return await ScrapedApp.start({
    services: {
      otel: { file: `${programs}/otel/index.mjs`, run: 'thread', group: 'both' },
      prom: { file: `${programs}/prom/index.cjs`, run: 'thread', group: 'both' },
    },
    gateway: {
      routes: [
        { host: undefined, prefix: '/otel', service: 'otel', strip: true },
        { host: undefined, prefix: '/prom', service: 'prom', strip: true },
      ],
    },
  })
}

const good = {
  otel: 'good_calls_total{service="otel",worker="1",otel_scope_name="odd"}',
  prom: 'prom_calls_total{service="prom",worker="1"}',
}

/** Each form, the metric that its one warning names, and lines of what is shown nevertheless. */
const odd = {
  otel: {
    text: ['odd.text'],
    undefined: ['odd.undefined'],
    bigint: ['odd.bigint'],
    'no-name': ['odd.no-name', 'odd_no_name_total{service="otel",worker="1",kind="y",otel_scope_name="odd"} 2'],
    'big-attribute': [
      undefined,
      'odd_big_attribute_total{service="otel",worker="1",size="\\"10\\"",otel_scope_name="odd"} 2',
    ],
    marked: [undefined, 'odd_marked_total{service="otel",worker="1",kind="\0NaN",otel_scope_name="odd"} 2'],
    bounds: ['odd.bounds', 'odd_bounds_bucket{service="otel",worker="1",otel_scope_name="odd",le="5"} 2'],
    'many-bounds': ['odd_many'],
    reserved: [
      undefined,
      'odd_reserved_total{service="otel",worker="1",exported___name__="x",exported___proto__="y",otel_scope_name="odd"} 2',
    ],
    bucket: [
      undefined,
      'odd_bucket_bucket{service="otel",worker="1",exported_le="a",quantile="q",otel_scope_name="odd",le="5"} 2',
    ],
    'same-label': [undefined, 'odd_same{service="otel",worker="1",a_b="x",otel_scope_name="odd"} 2'],
    renamed: [
      undefined,
      'odd_renamed_total{service="otel",worker="1",exported_exported_service="x",exported_service="s",otel_scope_name="odd"} 2',
      'odd_renamed_total{service="otel",worker="1",exported_exported_service="y",exported_service="s",otel_scope_name="odd"} 2',
      'odd_renamed_total{service="otel",worker="1",exported_service="x",otel_scope_name="odd"} 2',
      'odd_renamed_total{service="otel",worker="1",exported_otel_scope_name="x",otel_scope_name="odd"} 2',
      'odd_renamed_total{service="otel",worker="1",exported_otel_scope_name="y",otel_scope_name="odd"} 2',
    ],
    observed: ['odd.observed'],
    'empty-gauge': [''],
    'empty-counter': ['_total'],
    description: [undefined, 'odd_help_total{service="otel",worker="1",otel_scope_name="odd"} 2'],
    options: [undefined, 'odd_options_sum{service="otel",worker="1",otel_scope_name="odd"} 4'],
    'text-bounds': [
      'odd.text-bounds',
      'odd_text_bounds_bucket{service="otel",worker="1",otel_scope_name="odd",le="5"} 2',
    ],
    'name-undefined': ['undefined'],
    'name-null': ['null'],
    'name-number': ['5'],
    'name-symbol': ['Symbol(x)'],
    'name-object': ['object'],
    'meter-name': [undefined, 'odd_meter_total{service="otel",worker="1",otel_scope_name=""} 2'],
  },
  prom: {
    hangs: ['odd_hangs'],
    throws: ['odd_throws'],
    rejects: ['odd_rejects'],
    reserved: [
      undefined,
      'odd_reserved{service="prom",worker="1",exported___name__="x"} 1',
      'odd_reserved_sizes_bucket{service="prom",worker="1",exported___name__="x",le="5"} 1',
      'odd_reserved_times_sum{service="prom",worker="1",exported___name__="x"} 2',
    ],
    renamed: [
      undefined,
      'odd_renamed_total{service="prom",worker="1",exported_worker="s",exported_exported_worker="x"} 1',
      'odd_renamed_total{service="prom",worker="1",exported_worker="s",exported_exported_worker="y"} 1',
      'odd_renamed_total{service="prom",worker="1",exported_worker="x"} 1',
    ],
    text: [undefined, 'odd_text{service="prom",worker="1"} 7'],
    label: ['odd_label', 'odd_label{service="prom",worker="1",kind="y"} 2'],
    name: ['odd name'],
    symbol: ['odd_symbol', 'odd_symbol{service="prom",worker="1",kind="y"} 2'],
    'no-prototype': ['odd_bare', 'odd_bare{service="prom",worker="1"} 2'],
    valueOf: ['odd_value_of', 'odd_value_of{service="prom",worker="1"} 2'],
    'bare-label': ['odd_bare_label', 'odd_bare_label{service="prom",worker="1"} 2'],
    toString: ['odd_to_string', 'odd_to_string_bucket{service="prom",worker="1",le="5"} 2'],
    'bare-help': [undefined, 'odd_bare_help{service="prom",worker="1"} 2'],
    'bare-error': ['odd_bare_error'],
    'no-values': ['odd_empty'],
  },
} as const satisfies Record<string, Record<string, readonly [metric?: string | undefined, ...shown: string[]]>>

for (const service of ['otel', 'prom'] as const)
  test(`what ${service} cannot report is left out alone, with one warning`, async () => {
    await using scraped = await startBoth()
    const other = service === 'otel' ? 'prom' : 'otel'
    const forms = Object.entries<readonly [string | undefined, ...string[]]>(odd[service])
    for (const [at, [form, [metric, ...shown]]] of forms.entries()) {
      const before = warningsOf(scraped).length
      // Twice: the warning comes once.
      await scraped.get(`/${service}/${form}`)
      await scraped.get(`/${service}/${form}`)
      await scraped.get(`/${other}/`)
      const [own, others] = [`${good[service]} ${2 * at + 2}`, `${good[other]} ${at + 1}`]
      await scraped.scrapeWhen(own, others, ...shown)
      const warnings = warningsOf(scraped).slice(before)
      const named = warnings.map((line) => /^metric '(.*?)' of service '(.*?)'/s.exec(line)?.slice(1) ?? line)
      assert.deepEqual(named, metric === undefined ? [] : [[metric, service]], `${form}: ${warnings.join()}`)
    }
    checkMetrics(await scraped.scrape())
  })

function warningsOf({ app }: ScrapedApp): string[] {
  return app.log.filter(({ level }) => level === 'warn').map(({ line }) => line)
}
