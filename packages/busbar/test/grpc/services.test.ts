import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { status } from '@grpc/grpc-js'
import { fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import type { TestApp } from '../support/app/test-app.ts'
import { failureOf, type Stub, stubOf, unary } from './support/stub.ts'
import { addressOf, startThings } from './support/things-app.ts'

const health = `syntax = "proto3"; package grpc.health.v1;
service Health { rpc Check(Request) returns (Response); rpc Watch(Request) returns (stream Response); }
message Request { string service = 1; }
message Response { int32 status = 1; }`

const reflection = `syntax = "proto3"; package grpc.reflection.v1;
service ServerReflection { rpc ServerReflectionInfo(stream Request) returns (stream Response); }
message Request { oneof one { string file_containing_symbol = 4; string list_services = 7; } }
message Response { oneof one { Files file_descriptor_response = 4; Services list_services_response = 6; Failure error_response = 7; } }
message Files { repeated bytes file_descriptor_proto = 1; }
message Services { repeated Name service = 1; }
message Name { string name = 1; }
message Failure { int32 error_code = 1; string error_message = 2; }`

describe('services of gRPC itself', () => {
  let app: TestApp

  before(async () => {
    app = await startThings()
  })
  after(() => app[Symbol.asyncDispose]())

  it('tell whether a service serves', async () => {
    const stub = await stubOf(health, 'grpc.health.v1.Health', addressOf(app))
    for (const service of ['', 'test.v1.ThingService'])
      assert.deepEqual(await unary(stub, 'Check', { service }), { status: 1 })
    assert.equal((await failureOf(unary(stub, 'Check', { service: 'none' }))).code, status.NOT_FOUND)
    const first = await new Promise((resolve) => {
      const watch = stub['Watch']({ service: 'none' })
      watch.on('error', () => {})
      watch.once('data', (answer: unknown) => {
        watch.cancel()
        resolve(answer)
      })
    })
    assert.deepEqual(first, { status: 3 })
    stub.close()
  })

  it('tell what there is', async () => {
    const stub = await stubOf(reflection, 'grpc.reflection.v1.ServerReflection', addressOf(app))
    const { list_services_response: list } = await ask(stub, { list_services: '' })
    assert.equal(list.service[0].name, 'test.v1.ThingService')
    for (const { name } of list.service) {
      const { file_descriptor_response: found } = await ask(stub, { file_containing_symbol: name })
      const [file] = found.file_descriptor_proto.map((bytes: Uint8Array) =>
        fromBinary(FileDescriptorProtoSchema, bytes),
      )
      assert.equal(`${file.package}.${file.service[0].name}`, name)
    }
    const { error_response: error } = await ask(stub, { file_containing_symbol: 'no.Such' })
    assert.equal(error.error_code, status.NOT_FOUND)
    stub.close()
  })

  it('do not answer what the config turns off', async () => {
    await using quiet = await startThings({}, (loaded) => ({
      ...loaded,
      gateway: { ...loaded.gateway, grpc: { reflection: false } },
    }))
    const stub = await stubOf(reflection, 'grpc.reflection.v1.ServerReflection', addressOf(quiet))
    const call = stub['ServerReflectionInfo']()
    const error = await new Promise<{ code: number }>((resolve) => call.once('error', resolve))
    assert.equal(error.code, status.UNIMPLEMENTED)
    stub.close()
  })

  it('do not show a service without a route', async () => {
    await using hidden = await startThings({}, (loaded) => ({
      ...loaded,
      gateway: { ...loaded.gateway, entry: undefined, routes: [] },
    }))
    const stub = await stubOf(health, 'grpc.health.v1.Health', addressOf(hidden))
    const { code } = await failureOf(unary(stub, 'Check', { service: 'test.v1.ThingService' }))
    assert.equal(code, status.NOT_FOUND)
    stub.close()
  })
})

/** One request on a stream of both directions. */
function ask(stub: Stub, request: object): Promise<any> {
  return new Promise((resolve, reject) => {
    const call = stub['ServerReflectionInfo']()
    call.on('error', reject)
    call.once('data', (answer: unknown) => {
      call.end()
      resolve(answer)
    })
    call.write(request)
  })
}
