/** `@grpc/grpc-js`, with messages by its own loader of the files in `PROTO` (protobufjs). */
import { loadPeerPackage } from '../peer-package.ts'
import { certificate, findItem, keepItem, listItems, listProducts, port, type Item } from './services.ts'

type Done = (error: { code: number; message: string } | null, answer?: object) => void
type Handler = (call: never, done: Done) => void

interface GrpcJs {
  readonly Server: new () => {
    addService(service: object, methods: Record<string, Handler>): void
    bindAsync(address: string, credentials: object, done: (error: Error | null) => void): void
  }
  readonly ServerCredentials: {
    createInsecure(): object
    createSsl(roots: null, pairs: readonly { cert_chain: Buffer; private_key: Buffer }[]): object
  }
  readonly status: { readonly NOT_FOUND: number }
  readonly loadPackageDefinition: (definition: object) => {
    readonly rpz: { readonly ItemService: { readonly service: object } }
    readonly lab: { readonly v1: { readonly Catalog: { readonly service: object } } }
  }
}

interface ProtoLoader {
  readonly loadSync: (files: readonly string[], options: object) => object
}

const { Server, ServerCredentials, status, loadPackageDefinition } = loadPeerPackage('@grpc/grpc-js') as GrpcJs
const { loadSync } = loadPeerPackage('@grpc/proto-loader') as ProtoLoader
const files = (process.env['PROTO'] ?? '').split(',')
const { rpz, lab } = loadPackageDefinition(loadSync(files, { longs: Number }))
const server = new Server()

server.addService(rpz.ItemService.service, {
  CreateItem: ({ request }: { request: Item }, done: Done) => done(null, keepItem(request)),
  GetItem: ({ request }: { request: { id: string } }, done: Done) => {
    const item = findItem(request.id)
    if (item === undefined) done({ code: status.NOT_FOUND, message: 'there is no such item' })
    else done(null, item)
  },
  ListItems: ({ request }: { request: { limit?: number } }, done: Done) =>
    done(null, { items: listItems(request.limit) }),
})
server.addService(lab.v1.Catalog.service, {
  Constant: ({ request }: { request: { limit: number } }, done: Done) =>
    done(null, { products: listProducts(request.limit) }),
})

const credentials =
  certificate === undefined
    ? ServerCredentials.createInsecure()
    : ServerCredentials.createSsl(null, [{ cert_chain: certificate.cert, private_key: certificate.key }])
server.bindAsync(`127.0.0.1:${port}`, credentials, (error) => {
  if (error !== null) throw error
})
