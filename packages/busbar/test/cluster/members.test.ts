import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ClusterMembers } from '../../src/mesh/cluster/members.ts'
import type { LinkEnds } from '../../src/mesh/cluster/link-ends.ts'
import type { RemoteHosts } from '../../src/mesh/hosts/remote-hosts.ts'
import { announceInterval, encodeAnnouncement, memberTimeout } from '../../src/shared/cluster/announcement.ts'
import type { NatsConnection } from '../../src/shared/cluster/connection.ts'
import type { ClusterSubjects } from '../../src/shared/cluster/subjects.ts'
import type { Subscriptions } from '../../src/shared/cluster/subscriptions.ts'

const announcement = encodeAnnouncement({
  host: 'one',
  app: 'shop',
  machine: 'm',
  version: '',
  state: 'serving',
  services: [{ name: 'stock', typed: false, load: 0, contract: '' }],
})

/** Members that have heard of one host, and the names of those that they gave up. */
function membersOf(t: TestContext): { readonly announce: () => void; readonly removed: string[] } {
  const removed: string[] = []
  const hosts = { add: () => Promise.resolve(), remove: (name: string) => removed.push(name) }
  const subjects = { announcements: 'hosts', roll: 'roll' } as ClusterSubjects
  const members = new ClusterMembers({
    app: 'web',
    own: 'two',
    services: ['stock'],
    subjects,
    hosts: hosts as unknown as RemoteHosts,
  })
  t.after(() => members.close())
  let announce = (): void => {}
  const subscribe = (_subject: string, { callback }: { callback: (message: object) => void }): void => {
    announce = () => callback({ string: () => announcement })
  }
  const connection = { publish: () => {} } as unknown as NatsConnection
  members.opened(connection, { subscribe } as unknown as Subscriptions, {} as LinkEnds)
  announce()
  return { announce, removed }
}

test('a host is not given up because this worker was blocked', (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setImmediate', 'setTimeout'] })
  const now = t.mock.method(performance, 'now')
  const { announce, removed } = membersOf(t)
  now.mock.mockImplementation(() => 10 * memberTimeout)
  // After a block, a timer is late, and fires once.
  t.mock.timers.tick(memberTimeout / 4)
  announce()
  t.mock.timers.tick(announceInterval)
  assert.deepEqual(removed, [])
})

test('a silent host is given up', (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setImmediate', 'setTimeout'] })
  const { announce, removed } = membersOf(t)
  t.mock.timers.tick(announceInterval)
  announce()
  t.mock.timers.tick(memberTimeout * 0.75)
  assert.deepEqual(removed, [])
  t.mock.timers.tick(memberTimeout * 0.75)
  assert.deepEqual(removed, ['shop on m (one)'])
})
