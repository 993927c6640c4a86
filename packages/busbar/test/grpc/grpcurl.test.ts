import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { TestFolder } from '../support/app/test-folder.ts'
import { hasCommand } from '../support/has-command.ts'
import { selfSigned } from '../support/http/certificate.ts'
import { addressOf, startThings } from './support/things-app.ts'

const run = promisify(execFile)
const grpcurl = process.env['BUSBAR_GRPCURL'] ?? 'grpcurl'
const skip = hasCommand(grpcurl)
  ? false
  : 'no grpcurl: go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3, or set BUSBAR_GRPCURL'

/** It knows no message, and asks by reflection. */
describe('grpcurl', { skip }, () => {
  it('lists what is served, and describes it', async () => {
    await using app = await startThings()
    const { stdout } = await run(grpcurl, ['-plaintext', addressOf(app), 'list'])
    const services = ['grpc.health.v1.Health', 'grpc.reflection.v1.ServerReflection', 'test.v1.ThingService']
    for (const name of services) assert.ok(stdout.split('\n').includes(name), stdout)
    const described = await run(grpcurl, ['-plaintext', addressOf(app), 'describe', 'test.v1.ThingService.GetThing'])
    assert.match(described.stdout, /rpc GetThing \( \.test\.v1\.\w+ \) returns \( \.test\.v1\.\w+ \);/)
  })

  it('calls methods, also with streams, and shows statuses', async () => {
    await using app = await startThings()
    const call = async (name: string, ...messages: object[]) => {
      const data = messages.map((message) => JSON.stringify(message)).join(' ')
      return await run(grpcurl, ['-plaintext', '-d', data, addressOf(app), `test.v1.ThingService/${name}`])
    }
    assert.deepEqual(JSON.parse((await call('GetThing', { id: 'a' })).stdout), { id: 'a' })
    assert.deepEqual(JSON.parse((await call('Sum', { n: 1 }, { n: 2 })).stdout), { total: '3', count: '2' })
    assert.deepEqual((await call('Doubled', { n: 1 }, { n: 2 })).stdout.match(/"n": "(\d)"/g), ['"n": "2"', '"n": "4"'])
    const failed = await call('GetThing', { id: 'none' }).catch((error: { stderr: string }) => error)
    assert.match(failed.stderr, /Code: NotFound.*google\.rpc\.ErrorInfo/s)
    const health = await run(grpcurl, ['-plaintext', addressOf(app), 'grpc.health.v1.Health/Check'])
    assert.deepEqual(JSON.parse(health.stdout), { status: 'SERVING' })
  })

  it('calls over TLS', async () => {
    const { cert, key } = await selfSigned()
    using folder = new TestFolder({ 'cert.pem': cert, 'key.pem': key })
    const tls = { cert: folder.at('cert.pem'), key: folder.at('key.pem') }
    await using app = await startThings({}, (found) => ({ ...found, gateway: { ...found.gateway, tls } }))
    const secure = ['-cacert', tls.cert, '-authority', 'localhost', '-d', '{"id":"a"}']
    const { stdout } = await run(grpcurl, [...secure, addressOf(app), 'test.v1.ThingService/GetThing'])
    assert.deepEqual(JSON.parse(stdout), { id: 'a' })
  })
})
