/**
 * gRPC by Connect for Node on `node:http2`. Messages are described here, without a compiler, as the
 * `.proto` files beside this one have them.
 */
import { createSecureServer, createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { loadPeerPackage } from '../peer-package.ts'
import { certificate, findItem, keepItem, listItems, listProducts, port, type Item } from './services.ts'

interface Protobuf {
  create: (schema: object, content: object) => { name: string }
  createFileRegistry: (file: object, resolve: () => undefined) => { getService(name: string): object }
}

interface Router {
  service(service: object, methods: Record<string, (input: never) => object>): void
}

type Listener = (request: Http2ServerRequest, response: Http2ServerResponse) => void

interface ConnectNode {
  connectNodeAdapter: (options: { routes(router: Router): void }) => object
}

const { create, createFileRegistry } = loadPeerPackage('@bufbuild/protobuf') as Protobuf
const { FileDescriptorProtoSchema } = loadPeerPackage('@bufbuild/protobuf/wkt') as { FileDescriptorProtoSchema: object }
const { connectNodeAdapter } = loadPeerPackage('@connectrpc/connect-node') as ConnectNode
const { Code, ConnectError } = loadPeerPackage('@connectrpc/connect') as {
  readonly Code: { readonly NotFound: number }
  readonly ConnectError: new (message: string, code: number) => Error
}

/** `google.protobuf.FieldDescriptorProto`: types and labels by number. */
const int64 = 3
const int32 = 5
const string = 9
const optional = 1
const repeated = 3

const items = serviceOf('rpz', 'ItemService', {
  messages: [
    message('Item', [field('id', string, 1), field('name', string, 2)]),
    message('GetItemRequest', [field('id', string, 1)]),
    {
      name: 'ListItemsRequest',
      field: [{ ...field('limit', int64, 1), proto3Optional: true, oneofIndex: 0 }],
      oneofDecl: [{ name: '_limit' }],
    },
    message('ListItemsResponse', [list('items', '.rpz.Item')]),
  ],
  methods: [
    method('CreateItem', '.rpz.Item', '.rpz.Item'),
    method('GetItem', '.rpz.GetItemRequest', '.rpz.Item'),
    method('ListItems', '.rpz.ListItemsRequest', '.rpz.ListItemsResponse'),
  ],
})

const catalog = serviceOf('lab.v1', 'Catalog', {
  messages: [
    message('ListRequest', [field('limit', int32, 1)]),
    message('Products', [list('products', '.lab.v1.Product')]),
    message('Product', [
      field('id', int32, 1),
      field('name', string, 2),
      field('category', string, 3),
      field('cents', int32, 4),
      field('stock', int32, 5),
    ]),
  ],
  methods: [method('Constant', '.lab.v1.ListRequest', '.lab.v1.Products')],
})

const handle = connectNodeAdapter({
  routes(router) {
    router.service(items, {
      createItem: (item: Item) => keepItem(item),
      getItem: ({ id }: { id: string }) => {
        const item = findItem(id)
        if (item === undefined) throw new ConnectError('there is no such item', Code.NotFound)
        return item
      },
      listItems: ({ limit }: { limit?: bigint }) => ({
        items: listItems(limit === undefined ? undefined : Number(limit)),
      }),
    })
    router.service(catalog, { constant: ({ limit }: { limit: number }) => ({ products: listProducts(limit) }) })
  },
}) as Listener
const server = certificate === undefined ? createServer(handle) : createSecureServer(certificate, handle)
server.listen({ port, host: '127.0.0.1' })

function serviceOf(
  space: string,
  name: string,
  { messages, methods }: { messages: readonly object[]; methods: readonly object[] },
): object {
  const file = {
    name: `${name}.proto`,
    package: space,
    syntax: 'proto3',
    messageType: messages,
    service: [{ name, method: methods }],
  }
  return createFileRegistry(create(FileDescriptorProtoSchema, file), () => undefined).getService(`${space}.${name}`)
}

function message(name: string, fields: readonly object[]): object {
  return { name, field: fields }
}

function field(name: string, type: number, place: number): object {
  return { name, jsonName: name, number: place, type, label: optional }
}

function list(name: string, typeName: string): object {
  return { name, jsonName: name, number: 1, type: 11, label: repeated, typeName }
}

function method(name: string, inputType: string, outputType: string): object {
  return { name, inputType, outputType }
}
