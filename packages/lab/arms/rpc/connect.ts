/** Connect for Node on HTTP/1.1 with JSON. Messages are described here, without a compiler. */
import http, { type RequestListener } from 'node:http'
import { loadPeerPackage } from '../peer-package.ts'
import { constant, limitOf, stored, type Product } from './catalog.ts'

interface Protobuf {
  create: (schema: object, content: object) => { name: string }
  createFileRegistry: (file: object, resolve: () => undefined) => { getService(name: string): object | undefined }
}

interface Router {
  service(service: object, methods: Record<string, (input: object) => { products: Product[] }>): void
}

interface ConnectNode {
  connectNodeAdapter: (options: { routes(router: Router): void; fallback: RequestListener }) => RequestListener
}

const { create, createFileRegistry } = loadPeerPackage('@bufbuild/protobuf') as Protobuf
const { FileDescriptorProtoSchema } = loadPeerPackage('@bufbuild/protobuf/wkt') as { FileDescriptorProtoSchema: object }
const { connectNodeAdapter } = loadPeerPackage('@connectrpc/connect-node') as ConnectNode

/** `google.protobuf.FieldDescriptorProto`: types and labels by number. */
const int32 = 5
const string = 9
const message = 11
const optional = 1
const repeated = 3

const catalog = createFileRegistry(
  create(FileDescriptorProtoSchema, {
    name: 'catalog.proto',
    package: 'lab.v1',
    syntax: 'proto3',
    messageType: [
      describe('List', [['limit', int32]]),
      describe('Product', [
        ['id', int32],
        ['name', string],
        ['category', string],
        ['cents', int32],
        ['stock', int32],
      ]),
      { name: 'Products', field: [{ ...field('products', message, 1, repeated), typeName: '.lab.v1.Product' }] },
    ],
    service: [{ name: 'Catalog', method: [method('Constant'), method('Stored')] }],
  }),
  () => undefined,
).getService('lab.v1.Catalog')
if (catalog === undefined) throw new Error('the service is not in its own description')

const handle = connectNodeAdapter({
  routes(router) {
    router.service(catalog, {
      constant: (input) => ({ products: constant(limitOf(input)) }),
      stored: (input) => ({ products: stored(limitOf(input)) }),
    })
  },
  fallback: (_request, response) => response.end('ready'),
})
http.createServer(handle).listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1' })

function describe(name: string, fields: readonly (readonly [name: string, type: number])[]): object {
  return { name, field: fields.map(([each, type], at) => field(each, type, at + 1, optional)) }
}

function field(name: string, type: number, place: number, label: number): object {
  return { name, jsonName: name, number: place, type, label }
}

function method(name: string): object {
  return { name, inputType: '.lab.v1.List', outputType: '.lab.v1.Products' }
}
