import { deepStrictEqual } from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, before, suite, test } from 'node:test'
import { loadInstalled, ProgramFolder, versions, type Undici, type UndiciDispatcher } from './support/copies.ts'
import { Dice, drawScene, type Scene } from './support/fuzz.ts'
import { hash, whole } from './support/program.ts'
import { comparableHeaders, describe, openSides, type Side, type Sides } from './support/mesh-and-tcp.ts'

/** Any seed must pass. A failure reports its seed. */
const seed = Number(process.env['BUSBAR_FUZZ_SEED'] ?? 20261120)
const rounds = Number(process.env['BUSBAR_FUZZ_ROUNDS'] ?? 120)

suite('calls drawn by lot are equal by the mesh and over TCP', () => {
  let sides: Sides
  before(async () => (sides = await openSides()))
  after(() => sides[Symbol.asyncDispose]())

  async function compare(observe: (side: Side, scene: Scene) => Promise<unknown>): Promise<void> {
    const dice = new Dice(seed)
    for (let round = 0; round < rounds; round++) {
      const scene = drawScene(dice)
      const [mesh, tcp] = [await settled(observe(sides.mesh, scene)), await settled(observe(sides.tcp, scene))]
      deepStrictEqual(mesh, tcp, `seed ${seed}, round ${round}: ${JSON.stringify(scene)}`)
    }
  }

  test('made by fetch', () => compare(byFetch))
  for (const version of versions)
    test(`made by ${version}`, async () => {
      using folder = new ProgramFolder(version)
      const copy = folder.load()
      const plain = loadInstalled(version)
      const agent = new plain.Agent()
      await compare((side, scene) =>
        side.name === 'mesh' ? byRequest(copy, scene, side) : byRequest(plain, scene, side, agent),
      )
      // One connection for some calls: after a stream, it carries bytes.
      let [own, calls] = [new copy.Agent(), 0]
      await compare(async (side, scene) => {
        if (side.name === 'tcp') return byRequest(plain, scene, side, agent)
        if (++calls % 5 === 0) {
          await own.close()
          own = new copy.Agent()
        }
        return byRequest(copy, scene, side, own)
      })
      await own.close()
      await agent.close()
    })
})

async function byFetch(side: Side, scene: Scene): Promise<unknown> {
  const { method, headers } = scene
  const body = bodyOf(scene, (chunks) => ReadableStream.from(chunks))
  const response = await fetch(side.at + scene.path, {
    method,
    headers,
    ...(body !== undefined && { body, duplex: 'half' }),
  })
  const { status, statusText, redirected, type } = response
  return [
    status,
    statusText,
    redirected,
    type,
    comparableHeaders(response.headers),
    await readResponse(response, scene.reading),
  ]
}

async function readResponse(response: Response, reading: Scene['reading']): Promise<unknown> {
  if (reading === 'text') return response.text()
  if (reading === 'json') return settled(response.json())
  if (reading === 'arrayBuffer') return hash(new Uint8Array(await response.arrayBuffer()))
  if (reading === 'bytes') return hash(await response.bytes())
  if (reading === 'clone') {
    const copy = response.clone()
    return [hash(await copy.bytes()), await response.text()]
  }
  if (reading === 'late') await new Promise((resolve) => setTimeout(resolve, 5))
  return response.body === null ? null : hash(await whole(response.body))
}

async function byRequest(undici: Undici, scene: Scene, side: Side, dispatcher?: UndiciDispatcher): Promise<unknown> {
  const { method } = scene
  const headers = Object.fromEntries(scene.headers)
  const body = bodyOf(scene, (chunks) => Readable.from(chunks, { objectMode: false }))
  const options = { method, headers, body, ...(dispatcher && { dispatcher }) }
  const answer = await undici.request(side.at + scene.path, options)
  const { statusCode, statusText, trailers } = answer
  return [
    statusCode,
    statusText,
    trailers,
    comparableHeaders(Object.entries(answer.headers)),
    await readBody(answer.body, scene.reading),
  ]
}

async function readBody(
  body: Awaited<ReturnType<Undici['request']>>['body'],
  reading: Scene['reading'],
): Promise<unknown> {
  if (reading === 'text') return body.text()
  if (reading === 'json') return settled(body.json())
  if (reading === 'arrayBuffer') return hash(new Uint8Array(await body.arrayBuffer()))
  if (reading === 'bytes') return hash(await body.bytes())
  if (reading === 'late') await new Promise((resolve) => setTimeout(resolve, 5))
  return hash(await whole(body))
}

function bodyOf<T>({ body }: Scene, stream: (chunks: Buffer[]) => T): string | Buffer | T | undefined {
  if (body.kind === 'none') return undefined
  if (body.kind === 'text') return 'ü'.repeat(body.size)
  if (body.kind === 'bytes') return Buffer.alloc(body.size, 7)
  const half = Buffer.alloc(Math.ceil(body.size / 2), 9)
  return stream([half, half])
}

async function settled(outcome: Promise<unknown>): Promise<unknown> {
  try {
    return await outcome
  } catch (error) {
    return describe(error)
  }
}
