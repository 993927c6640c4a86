import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { countedPaths } from '../../src/mesh/meter.ts'
import { maxTemplates } from '../../src/shared/path-templates/known-templates.ts'
import type { Outbox } from '../../src/worker/reporting/outbox.ts'
import { ExpressRoutes } from '../../src/worker/templates/express-routes.ts'
import { TemplateReports } from '../../src/worker/templates/template-reports.ts'

test('a route of Express for which there was no place gets its template when there is one', () => {
  const paths = countedPaths()
  const reports = new TemplateReports(paths, { post: () => {} } as unknown as Outbox)
  const { answered } = new ExpressRoutes('shop', reports)
  const request = { method: 'GET', route: { path: '/carts/:id' }, baseUrl: '' } as unknown as IncomingMessage
  const found = (): string | undefined => paths.of('shop').find('GET', '/carts/7')?.path
  const others = Array.from({ length: maxTemplates }, (_, at) => `/other/${at}`)
  paths.add({ service: 'shop', templates: others, withdrawn: [] })
  answered(request)
  assert.equal(found(), undefined)
  paths.add({ service: 'shop', templates: [], withdrawn: others.slice(0, 1) })
  answered(request)
  assert.equal(found(), '/carts/:id')
  reports.flush()
})
