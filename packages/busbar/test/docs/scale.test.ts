/** The figures of the guide to many hosts follow from the constants of the code. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { announceInterval, encodeAnnouncement } from '../../src/shared/cluster/announcement.ts'
import { subjectsOf } from '../../src/shared/cluster/subjects.ts'

const guide = readFileSync(new URL('../../../../docs/guides/scale/many-hosts.md', import.meta.url), 'utf8')

const workers = 2
const seconds = announceInterval / 1000

const bytes = 260

const formulas: Record<string, (hosts: number) => number> = {
  'connections to NATS': (hosts) => hosts * (1 + workers),
  subscriptions: (hosts) => hosts * (8 + 4 * workers),
  'announcements published per second': (hosts) => hosts / seconds,
  'announcements delivered per second': (hosts) => (hosts / seconds) * hosts * (1 + workers),
  'their bytes per second': (hosts) => (hosts / seconds) * hosts * (1 + workers) * bytes,
  links: (hosts) => hosts * workers * (hosts - 1),
  'pings of idle links per second': (hosts) => (hosts * workers * (hosts - 1)) / 5,
}

for (const [name, formula] of Object.entries(formulas))
  test(`the row of ${name} is what its formula gives`, () => {
    const row = guide.split('\n').find((line) => line.startsWith(`| ${name} |`))!
    const cells = row.split('|').slice(2, 5)
    const figures = cells.map((cell) => Number(cell.replaceAll(',', '')))
    assert.deepEqual(figures, [10, 100, 10_000].map(formula))
  })

test('an announcement with five services has about as many bytes as the guide says', () => {
  const services = ['stock', 'catalog', 'cart', 'orders', 'mail'].map((name) => ({
    name,
    typed: true,
    load: 12,
    contract: '1a2b3c4',
  }))
  const announcement = { app: 'shop', machine: 'shop-7.example', version: '1.2.3', state: 'serving', services } as const
  const text = encodeAnnouncement({ host: '0123456789abcdef', ...announcement })
  const onTheWire = `MSG ${subjectsOf('shop').announcements} 2 ${text.length}\r\n${text}\r\n`
  assert.ok(Math.abs(onTheWire.length - bytes) < 40, `${onTheWire.length} bytes`)
})
