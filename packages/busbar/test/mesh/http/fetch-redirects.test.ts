import { deepStrictEqual } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareFetch, seen } from './support/compare-fetch.ts'
import { describe, failure } from './support/mesh-and-tcp.ts'

suite('fetch of a service: redirects', () => {
  const compared = compareFetch()
  const { same } = compared

  suite('redirects', () => {
    for (const code of [301, 302, 303, 307, 308])
      for (const method of ['GET', 'POST', 'PUT', 'HEAD'])
        same(`${code} of ${method}`, async (side) => {
          const body = method === 'GET' || method === 'HEAD' ? undefined : 'payload'
          const headers = { authorization: 'Bearer x', cookie: 'a=1', 'x-kept': '1' }
          return seen(side, await fetch(`${side.at}/redirect?code=${code}`, { method, headers, ...(body && { body }) }))
        })
    same('to another service lose what was meant for the first', async (side) => {
      const headers = { authorization: 'Bearer x', cookie: 'a=1', 'x-kept': '1' }
      const to = encodeURIComponent(`${side.other}/echo`)
      return seen(side, await fetch(`${side.at}/redirect?to=${to}`, { headers }))
    })
    for (const redirect of ['error', 'manual'] as const)
      same(`with redirect: ${redirect}`, async (side) => {
        try {
          return await seen(side, await fetch(`${side.at}/redirect`, { redirect }))
        } catch (error) {
          return describe(error)
        }
      })
    same('without a location', async (side) => seen(side, await fetch(`${side.at}/nowhere`)))
    same('20 of them', async (side) => seen(side, await fetch(`${side.at}/around?n=19`)))
    same('21 of them', (side) => failure(() => fetch(`${side.at}/around?n=20`)))
    same('to another scheme', (side) => failure(() => fetch(`${side.at}/redirect?to=ftp://x/`)))
    same('to a URL with credentials', (side) =>
      failure(() => fetch(`${side.at}/redirect?to=${encodeURIComponent('http://a:b@catalog.internal/')}`)),
    )
    same('of a stream, which cannot be sent again', (side) =>
      failure(() =>
        fetch(`${side.at}/redirect?code=307`, {
          method: 'POST',
          body: ReadableStream.from([Buffer.from('x')]),
          duplex: 'half',
        }),
      ),
    )
    test('from a service to the network and back', async () => {
      const { mesh, tcp } = compared.sides
      const out = await fetch(`${mesh.at}/redirect?to=${encodeURIComponent(`${tcp.at}/json`)}`)
      deepStrictEqual([out.redirected, out.url, out.status], [true, `${tcp.at}/json`, 200])
      await out.text()
      const back = await fetch(`${tcp.at}/redirect?to=${encodeURIComponent(`${mesh.at}/json`)}`)
      deepStrictEqual([back.redirected, back.url, back.status], [true, `${mesh.at}/json`, 200])
      deepStrictEqual(await back.json(), { hello: 'wörld', list: [1, 2, 3] })
    })
  })
})
