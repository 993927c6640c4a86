import { armProgram, type Arm, type Launch, type Place } from '../arm.ts'
import { exactly, goProgram, program } from './launch.ts'
import type { Scenario } from './scenario.ts'

const item = { id: '4711', name: 'Folding shelf bracket, steel', cents: 1295, tags: ['kitchen', 'garage'] }
const body = JSON.stringify(item)
const collection = '/rpz/items'
const path = `${collection}/${item.id}`

export const protocols: Scenario = {
  name: 'protocols',
  question: 'A service of items: what does the protocol cost, and what the runtime below it?',
  baseline: 'http',
  arms: [
    { ...arm('http', 'node:http', inNode), single: true },
    { ...arm('https', 'node:https', encrypted(inNode)), single: true },
    { ...arm('go', 'Go, net/http', inGo), requires: { kind: 'go', source: 'protocols/items.go' } },
    {
      ...arm('go-tls', 'Go, net/http with TLS', encrypted(inGo)),
      requires: { kind: 'go', source: 'protocols/items.go' },
    },
  ],
  quick: { arms: ['https', 'go'] },
  connections: [100],
  workers: [1],
  request: () => ({ path, expect: exactly(body) }),
  variants: {
    post: {
      title: 'items are added',
      request: () => ({
        method: 'POST',
        path: collection,
        headers: [['content-type', 'application/json']],
        body,
        expect: { ...exactly(body), status: 201 },
      }),
    },
  },
}

function arm(name: string, title: string, launch: (place: Place) => Launch): Arm {
  return { name, title, launch }
}

function inNode(place: Place): Launch {
  return program(place, path, { file: armProgram('protocols/items.ts'), env: { ITEM: body } })
}

function inGo(place: Place): Launch {
  return goProgram(place, path, { ITEM: body })
}

function encrypted(plain: (place: Place) => Launch): (place: Place) => Launch {
  return (place) => {
    const { env, target, ...rest } = plain(place)
    const { cert, key } = place.certificate
    return { ...rest, env: { ...env, TLS_CERT: cert, TLS_KEY: key }, target: { ...target, tls: true } }
  }
}
